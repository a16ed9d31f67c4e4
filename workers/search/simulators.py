"""Plays moves from stored positions: a game of one's own, restored and stepped for each simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import Snapshot, VectorGame
from workers.games.spaces import Legal, Observations, take

MakeGame = Callable[[int], VectorGame]
"""Makes the game on this many tables."""


@dataclass(slots=True)
class Stepped:
    """What one move each led to. The arrays are valid until the next call."""

    position: Snapshot
    rewards: NDArray[np.float32]
    """[rows, seats]"""
    ended: NDArray[np.bool_]
    """By the rules; a game that a limit of steps cut off goes on for a search."""
    seats: NDArray[np.int64]
    observations: Observations
    legal: Legal


class Simulator:
    """Steps any number of positions by one move. Games of a few sizes are kept: all tables of a game step at once."""

    def __init__(self, make: MakeGame) -> None:
        self._make = make
        self._games: dict[int, VectorGame] = {}

    def step(self, position: Snapshot, actions: NDArray[Any], seeds: NDArray[np.uint64] | None) -> Stepped:
        """Play one action in each position; what chance decides is drawn from `seeds` where they are given."""
        rows = len(actions)
        game = self._game(rows)
        spare = game.tables - rows
        if spare:
            # pad the batch: spare tables repeat the first move
            first = np.zeros(spare, np.int64)
            more = None if seeds is None else seeds[first]
            game.restore(np.arange(rows, rows + spare), {name: part[first] for name, part in position.items()}, more)
            actions = np.concatenate([actions, actions[first]])
        game.restore(np.arange(rows), position, seeds)
        if game.step_needs_turn:
            game.turn()
        result = game.step(actions)
        after = game.snapshot(np.arange(rows))
        over = np.flatnonzero(result.done)
        if len(over):
            # a finished game may have no observation: show the position before its last move
            source = np.where(over < rows, over, 0)
            game.restore(over, {name: column[source] for name, column in position.items()})
        turn = game.turn()
        found = Stepped(
            position=after,
            rewards=result.rewards[:rows],
            ended=(result.done & ~result.truncated)[:rows],
            seats=turn.seats[:rows],
            observations=turn.observations,
            legal=game.legal_of(turn),
        )
        if spare:
            found.observations = take(found.observations, slice(0, rows))
            found.legal = None if found.legal is None else found.legal[:rows]
        return found

    def _game(self, rows: int) -> VectorGame:
        size = 1 << max(0, rows - 1).bit_length()
        if size not in self._games:
            made = self._make(size)
            made.auto_reset = made.keeps_history = False
            made.reset(np.zeros(size, np.uint64))
            self._games[size] = made
        return self._games[size]
