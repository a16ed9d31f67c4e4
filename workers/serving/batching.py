"""Dynamic batching: requests are grouped until there are enough rows or the first has waited long enough."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.inference.actor import Columns

Arrays = dict[str, NDArray[Any]]
Run = Callable[[Arrays], Columns]


@dataclass(slots=True)
class BatchingStats:
    """What a batcher did."""

    requests: int = 0
    rows: int = 0
    batches: int = 0


@dataclass(slots=True)
class _Group:
    """Requests with the same columns that wait for each other."""

    requests: list[Columns] = field(default_factory=list)
    answers: list[asyncio.Future[Arrays]] = field(default_factory=list)
    rows: int = 0
    timer: asyncio.TimerHandle | None = None


class DynamicBatcher:
    """Runs requests of one version together: up to `max_rows`, or those that come within `max_delay` seconds."""

    def __init__(self, run: Run, *, max_rows: int, max_delay: float) -> None:
        self.stats = BatchingStats()
        self._run, self._max_rows, self._max_delay = run, max_rows, max_delay
        self._groups: dict[Hashable, _Group] = {}

    async def act(self, rows: Columns) -> Arrays:
        """The actor's columns for these rows, computed together with those of others."""
        loop = asyncio.get_running_loop()
        key = tuple(sorted((name, array.dtype.str, array.shape[1:]) for name, array in rows.items()))
        group = self._groups.setdefault(key, _Group())
        answer: asyncio.Future[Arrays] = loop.create_future()
        group.requests.append(rows)
        group.answers.append(answer)
        group.rows += row_count(rows)
        if group.rows >= self._max_rows:
            self._flush(key)
        elif group.timer is None:
            group.timer = loop.call_later(self._max_delay, self._flush, key)
        return await answer

    def _flush(self, key: Hashable) -> None:
        group = self._groups.pop(key)
        if group.timer is not None:
            group.timer.cancel()
        self.stats.requests += len(group.requests)
        self.stats.rows += group.rows
        self.stats.batches += 1
        try:
            parts = split(self._run(join(group.requests)), [row_count(each) for each in group.requests])
        except Exception as error:  # user code: the model may raise anything
            for answer in group.answers:
                if not answer.done():
                    answer.set_exception(error)
            return
        for answer, part in zip(group.answers, parts, strict=True):
            if not answer.done():  # a caller that gave up has cancelled it
                answer.set_result(part)


def row_count(rows: Columns) -> int:
    """The number of rows."""
    return len(next(iter(rows.values())))


def join(requests: Sequence[Columns]) -> Arrays:
    """Requests with the same columns as one, copied: arrays that came through Ray cannot be written."""
    return {name: np.concatenate([rows[name] for rows in requests]) for name in requests[0]}


def split(columns: Columns, counts: Sequence[int]) -> list[Arrays]:
    """The rows of each request, in order."""
    ends = np.cumsum(counts).tolist()
    return [
        {name: array[end - count : end] for name, array in columns.items()}
        for end, count in zip(ends, counts, strict=True)
    ]
