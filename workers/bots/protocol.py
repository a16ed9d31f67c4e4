"""The interface of a bot: it decides many rows at once, and draws random numbers from each row's key.

BadBot    the bot cannot be made: an unknown name, bad numbers, or a game it cannot play

See docs/decisions/games-and-bots.md.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import GameSpec, Turn, VectorGame
from workers.games.seeding import mix
from workers.games.spaces import ActionLayout, Legal, Observations

_BOTS = 3  # separates the bots' draws from the games' own draws on the same seed


class BadBot(ValueError):
    """The bot cannot be made: an unknown name, bad numbers, or a game it cannot play."""


@dataclass(slots=True)
class BotInput:
    """The rows a bot must decide. It does not refer to a VectorGame, so a remote game can fill it too."""

    seats: NDArray[np.int64]
    observations: Observations
    legal: Legal
    """[rows, actions]; None for action spaces without masks."""
    keys: NDArray[np.uint64]
    """All the randomness of each decision: a hash of game seed, ply and seat."""
    history: Callable[[int], list[int]]
    """The actions so far in the game of a row, chance outcomes included."""


class Bot(ABC):
    """A scripted player. It keeps no state between decisions, so a match is a function of its seeds."""

    def __init__(self, spec: GameSpec) -> None:
        self.spec = spec

    @cached_property
    def layout(self) -> ActionLayout:
        """How actions lie in arrays."""
        return ActionLayout(self.spec.action)

    @abstractmethod
    def act(self, inputs: BotInput) -> NDArray[Any]:
        """One legal action per row, as `ActionLayout` lays them out."""


def bot_input(game: VectorGame, turn: Turn, rows: NDArray[np.int64] | slice = slice(None), salt: int = 0) -> BotInput:
    """The input of a bot for these rows of the turn; another `salt` gives other draws on the same seeds."""
    tables, seats = turn.tables[rows], turn.seats[rows]
    observations, legal = game.rows_of(turn, rows)
    return BotInput(
        seats=seats,
        observations=observations,
        legal=legal,
        keys=mix(game.seeds_of(tables), game.plies[tables], seats, _BOTS, salt),
        history=lambda row: game.history(int(tables[row])),
    )


Decisions, decisions = BotInput, bot_input
"""Former names, kept for bots and scripts that import them."""
