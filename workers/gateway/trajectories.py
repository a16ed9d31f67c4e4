"""Groups episodes of games that call in into batches of experience of a fixed size.

See docs/decisions/remote-games.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import GameSpec
from workers.gateway.contract import Episode
from workers.rollout.batch import PENDING, TERMINAL, Experience

_NO_ACTOR = 0


class _Segment:
    """Consecutive decisions of one seat whose successors are all known."""

    __slots__ = ("acted_by", "columns", "final", "rows", "seat")

    def __init__(
        self,
        seat: int,
        columns: dict[str, NDArray[Any]],
        acted_by: NDArray[np.int64],
        final: dict[str, NDArray[Any]] | None,
    ) -> None:
        self.seat, self.columns, self.acted_by, self.final = seat, columns, acted_by, final
        """`final` is the row that followed the last decision; None where the game ended by its rules."""
        self.rows = len(acted_by)

    def split(self, rows: int) -> tuple[_Segment, _Segment]:
        """The first rows, which are followed by the first of the others; and the others."""
        head = {name: column[:rows] for name, column in self.columns.items()}
        tail = {name: column[rows:] for name, column in self.columns.items()}
        after = {name: column[:1] for name, column in tail.items() if name != "reward"}
        return (
            _Segment(self.seat, head, self.acted_by[:rows], after),
            _Segment(self.seat, tail, self.acted_by[rows:], self.final),
        )


class ExperienceQueue:
    """Takes episodes as games bring them, and gives batches of exactly the wanted number of decisions.

    Every decision of a batch is trainable. Where an episode was cut, or is split between two batches, the row that
    followed is one of the batch's `finals`, from which values bootstrap. Decisions without a known successor are left
    out. Each episode is a table of its own.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._teams = spec.teams
        self._segments: deque[_Segment] = deque()
        self._kinds: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] | None = None
        self._rows = 0

    def __len__(self) -> int:
        """Decisions that can be taken."""
        return self._rows

    def put(self, episode: Episode) -> int:
        """Add an episode; returns how many decisions of it can be learnt from."""
        segment = _segment(episode)
        if segment is None:
            return 0
        kinds = {name: (column.dtype, column.shape[1:]) for name, column in segment.columns.items()}
        if self._kinds is None:
            self._kinds = kinds
        elif kinds != self._kinds:
            raise ValueError(f"an episode has the columns {_named(kinds)}; those before had {_named(self._kinds)}")
        self._segments.append(segment)
        self._rows += segment.rows
        return segment.rows

    def take(self, rows: int) -> Experience | None:
        """The oldest decisions, exactly this many; None as long as there are fewer. The others stay."""
        if rows < 1:
            raise ValueError(f"a batch has at least 1 row, not {rows}")
        if self._rows < rows:
            return None
        taken, left = [], rows
        while left:
            segment = self._segments.popleft()
            if segment.rows > left:
                segment, rest = segment.split(left)
                self._segments.appendleft(rest)
            taken.append(segment)
            left -= segment.rows
        self._rows -= rows
        return _batch(taken, self._teams)

    def clear(self) -> None:
        """Forget everything, the columns too."""
        self._segments.clear()
        self._rows, self._kinds = 0, None


def _segment(episode: Episode) -> _Segment | None:
    columns, rows, final = episode.columns, len(episode.columns["reward"]), episode.final
    acted_by = np.full(rows, _NO_ACTOR, np.int64) if episode.acted_by is None else episode.acted_by
    if not episode.over and final is None:
        # cut off: the last decision has no outcome, so its observation is only used to bootstrap the one before it
        final = {name: column[-1:] for name, column in columns.items() if name != "reward"}
        columns = {name: column[:-1] for name, column in columns.items()}
        acted_by = acted_by[:-1]
    if not len(acted_by):
        return None
    return _Segment(episode.seat, columns, acted_by, None if episode.over else final)


def _batch(segments: Sequence[_Segment], teams: tuple[int, ...]) -> Experience:
    """Segments side by side, each a table: the first step has the first decision of each, and so on."""
    lengths = np.array([segment.rows for segment in segments], np.int64)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    total, cut = int(starts[-1]), [number for number, segment in enumerate(segments) if segment.final is not None]
    table = np.repeat(np.arange(len(segments)), lengths)
    step = np.arange(total) - starts[table]
    order = np.argsort(step, kind="stable")
    place = np.empty(total, np.int64)
    place[order] = np.arange(total)
    last = starts[1:] - 1
    links = np.full(total, TERMINAL, np.int64)
    inner = np.setdiff1d(np.arange(total), last)
    links[inner] = place[inner + 1]
    finals = total + np.arange(len(cut))
    links[last[cut]] = finals
    steps = np.cumsum(np.bincount(step))
    seats = np.array([segment.seat for segment in segments], np.int64)
    tables = np.concatenate((table[order], cut)).astype(np.int64)
    acted_by = np.concatenate([segment.acted_by for segment in segments])
    return Experience(
        columns=_columns(segments, order, cut),
        next_row=np.concatenate((links[order], np.full(len(cut), PENDING, np.int64))),
        offsets=np.concatenate(([0], steps, [total + len(cut)] if cut else [])).astype(np.int64),
        streams=tables * len(teams) + seats[tables],
        acted_by=np.concatenate((acted_by[order], acted_by[last[cut]])),
        finals=finals,
        tables=len(segments),
        teams=teams,
    )


def _columns(segments: Sequence[_Segment], order: NDArray[np.int64], cut: Sequence[int]) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {}
    for name in segments[0].columns:
        rows = np.concatenate([segment.columns[name] for segment in segments])[order]
        if cut:
            following = [_final(segments[number], name, rows) for number in cut]
            rows = np.concatenate([rows, *following])
        columns[name] = rows
    return columns


def _final(segment: _Segment, name: str, like: NDArray[Any]) -> NDArray[Any]:
    """This column of what followed; zeros where it is not known, as of rewards."""
    found = None if segment.final is None else segment.final.get(name)
    return np.zeros((1, *like.shape[1:]), like.dtype) if found is None else found


def _named(kinds: dict[str, tuple[np.dtype[Any], tuple[int, ...]]]) -> str:
    return ", ".join(f"{name} {dtype}{list(shape)}" for name, (dtype, shape) in sorted(kinds.items()))
