"""A data set, split into decisions to learn from and held-out decisions for validation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orchestrator.spec.algorithms.imitation import DatasetOptions
from workers.buffers.columns import Slots
from workers.buffers.contract import Draw
from workers.buffers.data_files import GAME, find_files, fit, hold_out, is_import_path, read_source, returns, rows_in
from workers.buffers.dataset import Dataset
from workers.buffers.errors import BadData
from workers.games.protocol import GameSpec
from workers.rollout.batch import PENDING, Experience

RETURN = "return"
"""The column of the discounted rewards from a decision to the end of its game."""


class Demonstrations(Dataset):
    """What `dataset` names; `validation` is what `validation_dataset` names, or a share of the games."""

    def __init__(
        self, options: DatasetOptions, spec: GameSpec, *, gamma: float, folders: Sequence[Path] | None = None
    ) -> None:
        """`folders` are those that files may lie in; None: anywhere."""
        share = 0.0 if options.validation_dataset else options.validation_share
        learnt: list[Experience] = []
        held: list[Experience] = []
        ends = [0]
        for source in options.dataset:
            for batch in _read([source], spec, gamma, folders):
                kept, other = hold_out(batch, share) if share else (batch, None)
                learnt.append(_plain(kept))
                held += [] if other is None else [_plain(other)]
            ends.append(sum(len(batch) for batch in learnt))
        held += [_plain(batch) for batch in _read(options.validation_dataset, spec, gamma, folders)]
        if not sum(len(batch) for batch in learnt):
            raise BadData(f"the data set {', '.join(options.dataset)} has no decisions to learn from")
        super().__init__(learnt, gamma=gamma)
        self._ends = np.array(ends)
        """The rows of each entry of `dataset` lie between two of these."""
        self._shares = _shares(options, self._ends)
        self.validation = Dataset(held, gamma=gamma) if sum(len(batch) for batch in held) else None
        """None where nothing is held out."""

    @property
    def nbytes(self) -> int:
        return super().nbytes + (0 if self.validation is None else self.validation.nbytes)

    def _choose(self, rows: int, rng: np.random.Generator) -> tuple[Slots, NDArray[np.float32]]:
        if self._shares is None:
            return super()._choose(rows, rng)
        numbers = self._weighted(rows, rng)
        while len(wrong := np.flatnonzero(self._next[numbers % self.capacity] == PENDING)):
            numbers[wrong] = self._weighted(len(wrong), rng)
        return numbers, np.ones(rows, np.float32)

    def _weighted(self, rows: int, rng: np.random.Generator) -> Slots:
        """Rows of entries that are drawn by their weights."""
        entry = rng.choice(len(self._ends) - 1, rows, p=self._shares)
        return rng.integers(self._ends[entry], self._ends[entry + 1])

    def measure(self, rows: int, rng: np.random.Generator) -> Draw | None:
        """Rows that are not learnt from."""
        return None if self.validation is None else self.validation.draw(rows, rng)


def _shares(options: DatasetOptions, ends: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """The chance of each entry of the data set; None where none are given: every row has the same."""
    if not options.dataset_weights:
        return None
    for source, size in zip(options.dataset, np.diff(ends).tolist(), strict=True):
        if not size:
            raise BadData(f"{source} has no decisions to learn from, and a weight in dataset_weights")
    weights = np.array(options.dataset_weights, np.float64)
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def check_first(options: DatasetOptions, spec: GameSpec, folders: Sequence[Path] | None) -> int:
    """Bytes that the data set takes in memory; raises where an entry names nothing, or its first file does not fit.

    Of other files only the headers are read, and of an import path's items only the first, which alone counts.
    """
    total = 0
    for source in (*options.dataset, *options.validation_dataset):
        name, batch = next(read_source(source, folders), ("", None))
        if batch is None:
            raise BadData(f"{source} has no decisions")
        fitted = _plain(fit(batch, spec, name))
        rows = len(fitted) if is_import_path(source) else sum(map(rows_in, find_files(source, folders)))
        total += rows * _row_bytes(fitted)
    return total


def _row_bytes(fitted: Experience) -> int:
    """Bytes of a row in memory, with its link and its return."""
    columns = sum(column.itemsize * math.prod(column.shape[1:]) for column in fitted.columns.values())
    return columns + fitted.next_row.itemsize + np.dtype(np.float32).itemsize


def _read(sources: Sequence[str], spec: GameSpec, gamma: float, folders: Sequence[Path] | None) -> Iterator[Experience]:
    for source in sources:
        for name, batch in read_source(source, folders):
            fitted = fit(batch, spec, name)
            yield fitted.with_columns({RETURN: returns(fitted, gamma)})


def _plain(batch: Experience) -> Experience:
    """Without the column that only says which rows belong together."""
    return batch.with_columns({}) if GAME not in batch.columns else _without(batch, GAME)


def _without(batch: Experience, name: str) -> Experience:
    kept = {key: column for key, column in batch.columns.items() if key != name}
    return Experience(
        columns=kept,
        next_row=batch.next_row,
        offsets=batch.offsets,
        streams=batch.streams,
        acted_by=batch.acted_by,
        tables=batch.tables,
    )
