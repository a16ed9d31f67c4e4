"""Decides the actions of all opponents in a rollout, in as few batches as possible."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.bots.protocol import Bot, bot_input
from workers.games.protocol import Turn, VectorGame
from workers.inference.grouped import PolicyGroup, groupable
from workers.inference.policy import Policy
from workers.rollout.seating import LEARNER, Seating


class Opponents:
    """Decides for all opponents of a seating: perceptrons as one group, other policies and bots one by one."""

    def __init__(self, game: VectorGame, seating: Seating, players: Mapping[int, Policy | Bot]) -> None:
        self._game = game
        self._owner = seating.owner
        self._seats = seating.owner.shape[1]
        self._runs = _runs(seating)
        self._players = {number: players[number] for number, _, _ in self._runs}
        self._states = {
            number: np.zeros((self._owner.size, player.state_size), np.float32)
            for number, player in self._players.items()
            if isinstance(player, Policy) and player.state_size
        }
        self._groups = self._make_groups(seating)

    def act(self, turn: Turn, owner: NDArray[np.int64], draws: NDArray[np.float32], actions: NDArray[Any]) -> None:
        """Write the actions of all rows that belong to opponents."""
        if self._groups and self._complete(turn):
            self._act_grouped(turn, owner, draws, actions)
        else:
            for number, start, end in self._runs:
                first, last = np.searchsorted(turn.tables, (start, end))
                rows = first + np.flatnonzero(owner[first:last] == number)
                if len(rows):
                    actions[rows] = self._act_one(number, turn, rows, draws)

    def finish(self, tables: NDArray[np.int64]) -> None:
        """The games at these tables are over: forget what recurrent opponents remember of them."""
        for states in self._states.values():
            states.reshape(len(self._owner), -1)[tables] = 0.0

    def _complete(self, turn: Turn) -> bool:
        width = self._seats if self._game.spec.simultaneous else 1
        return len(turn.tables) == len(self._owner) * width

    def _act_grouped(
        self, turn: Turn, owner: NDArray[np.int64], draws: NDArray[np.float32], actions: NDArray[Any]
    ) -> None:
        # Rows of learning seats are computed too: that costs less than gathering rows and changing shapes.
        width = len(turn.tables) // len(self._owner)
        for group, start, end in self._groups:
            rows = slice(start * width, end * width)
            decided = group.decide(*self._game.rows_of(turn, rows), draws[rows])
            theirs = owner[rows] != LEARNER
            actions[rows][theirs] = decided.actions[theirs]

    def _act_one(self, number: int, turn: Turn, rows: NDArray[np.int64], draws: NDArray[np.float32]) -> NDArray[Any]:
        player = self._players[number]
        if not isinstance(player, Policy):
            return player.act(bot_input(self._game, turn, rows))
        memory = self._states.get(number)
        streams = turn.tables[rows] * self._seats + turn.seats[rows]
        decided = player.decide(
            *self._game.rows_of(turn, rows), draws[rows], None if memory is None else memory[streams]
        )
        if memory is not None:
            memory[streams] = decided.states
        return decided.actions

    def _make_groups(self, seating: Seating) -> list[tuple[PolicyGroup, int, int]]:
        """One group per block size (there are at most two), with its first table and its end."""
        players = list(self._players.values())
        policies = [player for player in players if isinstance(player, Policy)]
        if len(players) < 2 or len(policies) < len(players) or not groupable(policies):
            return []
        by_number = dict(zip(self._players, policies, strict=True))
        blocks = [
            (by_number[number], int(start), int(end))
            for number, (start, end) in zip(seating.blocks, pairwise(seating.edges), strict=True)
            if number != LEARNER
        ]
        groups = []
        for _, alike in groupby(blocks, key=lambda block: block[2] - block[1]):
            members, starts, ends = zip(*alike, strict=True)
            groups.append((PolicyGroup(members), starts[0], ends[-1]))
        return groups


def _runs(seating: Seating) -> list[tuple[int, int, int]]:
    """(opponent, first table, end) of each run of neighbouring blocks with one opponent."""
    edges = seating.edges
    runs, begun = [], 0
    for number, blocks in groupby(seating.blocks):
        ended = begun + len(list(blocks))
        if number != LEARNER:
            runs.append((number, int(edges[begun]), int(edges[ended])))
        begun = ended
    return runs
