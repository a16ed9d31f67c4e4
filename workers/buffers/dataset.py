"""Data sets: experience from files or iterables, for imitation and offline learning."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from workers.buffers.contract import State
from workers.buffers.errors import BadData
from workers.buffers.replay import Replay
from workers.rollout.batch import PENDING, TERMINAL, Experience


class Dataset(Replay):
    """Experience that was recorded elsewhere; what the player plays is shown to `update` but not stored."""

    def __init__(self, source: str | Iterable[Experience], **options: Any) -> None:
        """`source`: files by a path or pattern ("games/*.npz"; see `write`), or experience itself."""
        batches = list(read(source) if isinstance(source, str) else source)
        rows = sum(len(batch) for batch in batches)
        if not rows:
            raise BadData(f"the data set {source!r} has no decisions" if isinstance(source, str) else "no decisions")
        super().__init__(capacity=rows, **options)
        for batch in batches:
            super().add(batch)
        self.remembers = False  # its rows come from the options, not from earlier updates

    def add(self, new: Experience) -> None:
        self._newest = new

    def bytes_when_full(self, like: Experience) -> int:
        return self.nbytes

    def state(self) -> State:
        """Nothing: the data are read again where the buffer moves."""
        return {}

    def load(self, state: State) -> None:
        pass


def write(path: str | Path, batch: Experience) -> None:
    """Write experience to a file of numpy's .npz format: a column each, and `next_row`."""
    columns: dict[str, Any] = {"next_row": batch.next_row, **batch.columns}
    np.savez_compressed(path, **columns)


def read(pattern: str) -> Iterable[Experience]:
    """The experience in the files of this path or pattern, in the order of their names."""
    paths = sorted(glob.glob(pattern))
    if not paths:
        raise FileNotFoundError(f"no file is called {pattern}")
    for path in paths:
        with np.load(path, allow_pickle=False) as file:
            yield from_columns({name: file[name] for name in file.files}, path)


def from_columns(columns: dict[str, Any], name: str = "the data") -> Experience:
    """Experience from columns; without `next_row`, each row is followed by the next, and `terminal` ends games.

    The last decision of a game that `truncated` ends only bootstraps the one before it: its successor is not there.
    """
    lacking = sorted({"action", "reward"} - columns.keys())
    if lacking or not any(key.partition("/")[0] == "obs" for key in columns):
        raise BadData(f"{name} needs the columns obs, action and reward; it has {', '.join(sorted(columns))}")
    columns = dict(columns)
    rows = len(columns["action"])
    uneven = sorted(key for key, column in columns.items() if len(column) != rows)
    if uneven:
        raise BadData(f"{name}: {', '.join(uneven)} has another length than action, which has {rows} rows")
    links = columns.pop("next_row", None)
    if links is None:
        ends = columns.pop("terminal", np.zeros(rows)).astype(np.bool_)
        cut = columns.pop("truncated", np.zeros(rows)).astype(np.bool_) & ~ends
        ends[-1:] = ~cut[-1:]
        links = np.where(ends, TERMINAL, np.where(cut, PENDING, np.arange(1, rows + 1)))
    columns["reward"] = columns["reward"].astype(np.float32)
    return Experience(
        columns=columns,
        next_row=links.astype(np.int64),
        offsets=np.arange(rows + 1),
        streams=np.zeros(rows, np.int64),
        acted_by=np.zeros(rows, np.int64),
        tables=1,
    )
