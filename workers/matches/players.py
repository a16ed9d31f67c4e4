"""The players of a match: policies and bots behind one interface."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workers.bots.names import make_bot
from workers.bots.protocol import Bot, bot_input
from workers.games.protocol import Turn, VectorGame
from workers.inference.cache import PolicyCache
from workers.inference.policy import Decider, Places, decide_placed
from workers.matches.task import Entrant


class Player(Protocol):
    """Chooses the actions of one entrant, at all tables where it plays."""

    @property
    def remembers(self) -> bool:
        """Whether its actions depend on what it was asked before in the same game."""

    def begin(self, tables: NDArray[np.int64]) -> None:
        """Forget the previous games at these tables: new ones start."""

    def act(self, game: VectorGame, turn: Turn, rows: NDArray[np.int64], draws: NDArray[np.float32]) -> NDArray[Any]:
        """One action for each of these rows; `draws` are uniform in [0, 1), of the shape `ActionLayout.draws_shape`."""


class PolicyPlayer:
    """A policy, sampled or greedy, with the memory of each seat it plays if it is recurrent."""

    def __init__(self, policy: Decider, *, tables: int, seats: int, sampled: bool) -> None:
        self._policy = policy
        self._sampled = sampled
        self._memory = np.zeros((tables, seats, policy.state_size), np.float32) if policy.state_size else None

    @property
    def remembers(self) -> bool:
        return self._memory is not None

    def begin(self, tables: NDArray[np.int64]) -> None:
        if self._memory is not None:
            self._memory[tables] = 0.0

    def act(self, game: VectorGame, turn: Turn, rows: NDArray[np.int64], draws: NDArray[np.float32]) -> NDArray[Any]:
        at = turn.tables[rows], turn.seats[rows]
        decided = decide_placed(
            self._policy,
            *game.rows_of(turn, rows),
            draws if self._sampled else None,
            None if self._memory is None else self._memory[at],
            Places(*at),
        )
        if self._memory is not None:
            self._memory[at] = decided.states
        return decided.actions


class BotPlayer:
    """A scripted player. Its draws come from the seed of each game, so `draws` is not used."""

    remembers = False

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    def begin(self, tables: NDArray[np.int64]) -> None:
        """Does nothing: bots keep no state between decisions."""

    def act(self, game: VectorGame, turn: Turn, rows: NDArray[np.int64], draws: NDArray[np.float32]) -> NDArray[Any]:
        return self._bot.act(bot_input(game, turn, rows))


def make_player(entrant: Entrant, game: VectorGame, policies: PolicyCache, *, sampled: bool) -> Player:
    """The player of an entrant in this game."""
    if entrant.bot is not None:
        return BotPlayer(make_bot(entrant.bot, game.spec))
    assert entrant.checkpoint is not None
    policy = policies.get(entrant.checkpoint)
    return PolicyPlayer(policy, tables=game.tables, seats=game.spec.seats, sampled=sampled)
