"""Decides the actions of all opponents in a rollout, in as few batches as possible."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.bots.protocol import Bot, bot_input
from workers.games.protocol import Turn, VectorGame
from workers.games.spaces import take
from workers.inference.grouped import PerceptronGroup, architecture, group, is_perceptron
from workers.inference.policy import Decider, Places, Policy, decide_placed
from workers.rollout.seating import LEARNER, Seating

FEW_MODULES = 4
"""So few policies other than perceptrons run one by one: each has many rows then, and vmap would pad them."""


class Opponents:
    """Decides for all opponents of a seating: a bot, or policies of one architecture, in one batch."""

    def __init__(self, game: VectorGame, seating: Seating, players: Mapping[int, Policy | Bot]) -> None:
        blocks = [
            (number, int(start), int(end))
            for number, (start, end) in zip(seating.blocks, pairwise(seating.edges), strict=True)
            if number != LEARNER
        ]
        seated = {number: players[number] for number, _, _ in blocks}
        self._batches: list[_Batch] = []
        self._batch_of = np.full(max(seated, default=0) + 2, LEARNER)
        """The batch that decides for each opponent; the last entry is that of LEARNER (-1)."""
        for numbers in _alike(seated):
            self._batch_of[numbers] = len(self._batches)
            theirs = [(seated[number], start, end) for number, start, end in blocks if number in set(numbers)]
            self._batches.append(_batch(game, seating.owner.shape, theirs))

    def act(self, turn: Turn, owner: NDArray[np.int64], draws: NDArray[np.float32], actions: NDArray[Any]) -> None:
        """Write the actions of all rows that belong to opponents."""
        batch_of = self._batch_of[owner]
        for number, batch in enumerate(self._batches):
            rows = np.flatnonzero(batch_of == number)
            if len(rows):
                actions[rows] = batch.act(turn, rows, draws)

    def finish(self, tables: NDArray[np.int64]) -> None:
        """The games at these tables are over: forget what recurrent opponents remember of them."""
        for batch in self._batches:
            batch.finish(tables)


def _alike(players: Mapping[int, Policy | Bot]) -> list[list[int]]:
    """The opponents that are decided together, by number."""
    found: dict[Hashable, list[int]] = {}
    for number, player in players.items():
        kind = architecture(player) if isinstance(player, Policy) else ("bot", id(player))
        found.setdefault(number if kind is None else kind, []).append(number)
    return [part for numbers in found.values() for part in _split_few([players[n] for n in numbers], numbers)]


def _split_few(players: Sequence[Policy | Bot], numbers: list[int]) -> list[list[int]]:
    """Few modules other than perceptrons: each by itself, all numbers of one policy together."""
    policies = list({id(player): player for player in players if isinstance(player, Policy)}.values())
    if not 1 < len(policies) <= FEW_MODULES or is_perceptron(policies[0]):
        return [numbers]
    by_player: dict[int, list[int]] = {}
    for number, player in zip(numbers, players, strict=True):
        by_player.setdefault(id(player), []).append(number)
    return list(by_player.values())


Block = tuple[Policy | Bot, int, int]
"""A player, its first table and the end."""


def _batch(game: VectorGame, shape: tuple[int, int], blocks: Sequence[Block]) -> _Batch:
    first = blocks[0][0]
    if not isinstance(first, Policy):
        return _BotBatch(game, shape, first)
    if all(player is first for player, _, _ in blocks):
        return _PolicyBatch(game, shape, first)
    return _GroupBatch(game, shape, blocks)


def _merged(blocks: Sequence[Block]) -> Sequence[Block]:
    """Neighbouring blocks of one perceptron as one, as far as all stay of one size: larger matrices cost less a row."""
    if not all(isinstance(player, Policy) and is_perceptron(player) for player, _, _ in blocks):
        return blocks
    if len({end - start for _, start, end in blocks}) > 1:
        return blocks
    runs = [1]
    for (player, _, end), (following, start, _) in pairwise(blocks):
        if following is player and start == end:
            runs[-1] += 1
        else:
            runs.append(1)
    each = gcd(*runs)
    return [(blocks[i][0], blocks[i][1], blocks[i + each - 1][2]) for i in range(0, len(blocks), each)]


class _Batch(ABC):
    """Opponents that are decided in one call."""

    def __init__(self, game: VectorGame, shape: tuple[int, int], state_size: int = 0) -> None:
        self._game = game
        self._tables, self._seats = shape
        self._states = np.zeros((self._tables * self._seats, state_size), np.float32) if state_size else None

    @abstractmethod
    def act(self, turn: Turn, rows: NDArray[np.int64], draws: NDArray[np.float32]) -> NDArray[Any]:
        """The actions of these rows, all of this batch's opponents."""

    def finish(self, tables: NDArray[np.int64]) -> None:
        if self._states is not None:
            self._states.reshape(self._tables, -1)[tables] = 0.0

    def _decide(
        self,
        decider: Decider,
        turn: Turn,
        rows: NDArray[np.int64] | slice,
        draws: NDArray[np.float32],
        wanted: NDArray[np.int64] | slice = slice(None),
    ) -> NDArray[Any]:
        """The actions of the `wanted` ones of these rows; the others' are not used, and change no state."""
        places = Places(turn.tables[rows], turn.seats[rows])
        shown = self._game.rows_of(turn, rows)
        if self._states is None:
            return decide_placed(decider, *shown, draws[rows], None, places).actions[wanted]
        streams = places.tables * self._seats + places.seats
        decided = decide_placed(decider, *shown, draws[rows], self._states[streams], places)
        assert decided.states is not None
        self._states[streams[wanted]] = decided.states[wanted]
        return decided.actions[wanted]


class _BotBatch(_Batch):
    """One bot, whichever opponents it plays."""

    def __init__(self, game: VectorGame, shape: tuple[int, int], bot: Bot) -> None:
        super().__init__(game, shape)
        self._bot = bot

    def act(self, turn: Turn, rows: NDArray[np.int64], draws: NDArray[np.float32]) -> NDArray[Any]:
        return self._bot.act(bot_input(self._game, turn, rows))


class _PolicyBatch(_Batch):
    """One policy."""

    def __init__(self, game: VectorGame, shape: tuple[int, int], policy: Policy) -> None:
        super().__init__(game, shape, policy.state_size)
        self._policy = policy

    def act(self, turn: Turn, rows: NDArray[np.int64], draws: NDArray[np.float32]) -> NDArray[Any]:
        return self._decide(self._policy, turn, rows, draws)


class _GroupBatch(_Batch):
    """Several policies of one architecture; the group has one member for each block of tables."""

    def __init__(self, game: VectorGame, shape: tuple[int, int], blocks: Sequence[Block]) -> None:
        blocks = _merged(blocks)
        policies = [player for player, _, _ in blocks if isinstance(player, Policy)]
        super().__init__(game, shape, policies[0].state_size)
        self._group = group(policies)
        self._blocks = len(blocks)
        self._block_of = np.zeros(self._tables, np.int64)
        for number, (_, start, end) in enumerate(blocks):
            self._block_of[start:end] = number
        self._whole = self._whole_blocks(blocks)

    def act(self, turn: Turn, rows: NDArray[np.int64], draws: NDArray[np.float32]) -> NDArray[Any]:
        if self._whole is not None and len(turn.tables) == self._tables * self._width:
            return self._act_whole(turn, rows, draws, self._whole)
        block = self._block_of[turn.tables[rows]]
        sizes = np.bincount(block, minlength=self._blocks)
        place = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[block]
        # a group takes blocks of equal size: the places that are left are filled with any row
        padded = np.full((self._blocks, sizes.max()), rows[0])
        padded[block, place] = rows
        return self._decide(self._group, turn, padded.reshape(-1), draws, block * padded.shape[1] + place)

    def _act_whole(
        self, turn: Turn, rows: NDArray[np.int64], draws: NDArray[np.float32], whole: NDArray[np.int64] | slice
    ) -> NDArray[Any]:
        """The network sees rows of learning seats too: that costs less than gathering rows of changing number."""
        assert isinstance(self._group, PerceptronGroup)
        wanted = rows - whole.start if isinstance(whole, slice) else np.searchsorted(whole, rows)
        legal = self._game.legal_of(turn)
        return self._group.decide(
            take(turn.observations, whole), None if legal is None else legal[rows], draws[rows], only=wanted
        ).actions

    @property
    def _width(self) -> int:
        """Rows of a table, where all of them are there."""
        return self._seats if self._game.spec.simultaneous else 1

    def _whole_blocks(self, blocks: Sequence[Block]) -> NDArray[np.int64] | slice | None:
        """All rows of the blocks when no table is missing, for perceptrons in blocks of equal size."""
        if not isinstance(self._group, PerceptronGroup) or len({end - start for _, start, end in blocks}) > 1:
            return None
        rows = np.concatenate([np.arange(start * self._width, end * self._width) for _, start, end in blocks])
        neighbours = len(rows) == rows[-1] + 1 - rows[0]
        return slice(int(rows[0]), int(rows[-1]) + 1) if neighbours else rows
