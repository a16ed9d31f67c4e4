"""Mates: players that sit in the learner's team at some tables.

See docs/decisions/teams.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.bots.protocol import Bot
from workers.games.protocol import Turn, VectorGame
from workers.inference.policy import Policy
from workers.rollout.opponents import Opponents
from workers.rollout.seating import LEARNER, MATE, Seating


class Mates:
    """Decides for all mates of a seating, one call each: a generation has few of them."""

    def __init__(self, game: VectorGame, seating: Seating, players: Mapping[int, Policy | Bot]) -> None:
        assert seating.mates is not None
        self._number = seating.mates
        alone = replace(seating, blocks=(0,) * len(seating.blocks), mates=None)
        seated = {number: players[number] for number in np.unique(self._number).tolist() if number != LEARNER}
        self._players = {number: Opponents(game, alone, {0: player}) for number, player in seated.items()}

    def act(self, turn: Turn, owner: NDArray[np.int64], draws: NDArray[np.float32], actions: NDArray[Any]) -> None:
        """Write the actions of all rows that belong to mates."""
        number = np.where(owner == MATE, self._number[turn.tables], LEARNER)
        for mate, player in self._players.items():
            player.act(turn, np.where(number == mate, 0, LEARNER), draws, actions)

    def finish(self, tables: NDArray[np.int64]) -> None:
        """The games at these tables are over: forget what recurrent mates remember of them."""
        for player in self._players.values():
            player.finish(tables)
