"""Experience as flat arrays: one row per decision, linked along each seat's trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.inference.actor import STATE, Columns

TERMINAL = -1
"""Link of a decision after which the game ended."""
PENDING = -2
"""Link of a decision whose successor is not known: its value bootstraps others, it is not trained on."""

_NONE: NDArray[np.int64] = np.zeros(0, np.int64)


@dataclass(frozen=True, kw_only=True)
class Experience:
    """Decisions in the order they were taken. Plain arrays, so that Ray moves them without copying."""

    columns: Columns
    """"obs" or "obs/<part>", "action", "reward", "legal" where actions are masked, "state" of a recurrent policy before
    the decision, and what else the actor returned ("log_prob", "value", ...)."""
    next_row: NDArray[np.int64]
    """The row of the same seat's next decision in the same game, or TERMINAL, or PENDING."""
    offsets: NDArray[np.int64]
    """Where each step's rows begin, and the end: a link never leads to an earlier step or the same one."""
    streams: NDArray[np.int64]
    """Which seat at which table: table * seats + seat."""
    acted_by: NDArray[np.int64]
    """The update of the learner whose weights decided; 0 for data from elsewhere."""
    carried: NDArray[np.int64] = field(default_factory=lambda: _NONE)
    """Rows that were PENDING in the batch before and have been carried over into this one."""
    finals: NDArray[np.int64] = field(default_factory=lambda: _NONE)
    """Rows that are no decisions but the final observations of truncated games: successors of the last decisions in
    these games, PENDING themselves. What the actor returned for them ("value", ...) bootstraps."""
    tables: int
    """How many tables there were; `streams` are below tables * seats."""
    teams: tuple[int, ...] = (0,)
    """The team of each seat."""

    def __len__(self) -> int:
        return len(self.next_row)

    @property
    def seat(self) -> NDArray[np.int64]:
        """The seat of each row."""
        return self.streams % len(self.teams)

    @property
    def table(self) -> NDArray[np.int64]:
        """The table of each row."""
        return self.streams // len(self.teams)

    @property
    def team(self) -> NDArray[np.int64]:
        """The team of each row."""
        return np.asarray(self.teams)[self.seat]

    @property
    def step(self) -> NDArray[np.int64]:
        """The step of each row, counted from the start of the batch."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @property
    def trainable(self) -> NDArray[np.int64]:
        """Rows to train on: all whose successor is known."""
        return np.flatnonzero(self.next_row != PENDING)

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """[rows], whether the game was cut off after this decision, so that its successor is a final observation."""
        return np.isin(self.next_row, self.finals)

    @property
    def trainable_rows(self) -> int:
        """How many rows are `trainable`."""
        return int(np.count_nonzero(self.next_row != PENDING))

    def part(self, name: str) -> dict[str, NDArray[Any]]:
        """The column `name`, or all columns below it ("obs/units", "obs/map")."""
        return {key: column for key, column in self.columns.items() if key == name or key.startswith(f"{name}/")}

    def transitions(self) -> Experience:
        """The trainable rows with their successors' observations, masks and states as "next/<name>".

        The successor of a game's last decision is zeros, unless the game was truncated. The rows own their memory and
        may be shuffled.
        """
        rows = self.trainable
        after = self.next_row[rows]
        names = [*self.part("obs"), *self.part("legal"), *self.part(STATE)]
        columns = {name: column[rows] for name, column in self.columns.items()}
        for name in names:
            following = self.columns[name][after]
            following[after == TERMINAL] = 0
            columns[f"next/{name}"] = following
        columns["terminal"] = after == TERMINAL
        return replace(
            self,
            columns=columns,
            next_row=np.full(len(rows), PENDING, np.int64),
            offsets=np.array([0, len(rows)], np.int64),
            streams=self.streams[rows],
            acted_by=self.acted_by[rows],
            carried=_NONE,
            finals=_NONE,
        )

    def joint(self) -> dict[str, NDArray[Any]]:
        """Columns as [steps, tables, seats, ...], for games in which every seat decides in every step."""
        decisions = np.setdiff1d(np.arange(len(self)), self.finals)
        step = self.step[decisions]
        rows = decisions[np.lexsort((self.streams[decisions], step))]
        widths, seats = np.unique(step, return_counts=True)[1], len(self.teams)
        steps, width = len(widths), len(rows) // max(1, len(widths))
        streams = self.streams[rows].reshape(steps, -1) if width * steps == len(rows) else None
        if streams is None or width % seats or (streams != streams[0]).any() or (widths != width).any():
            raise ValueError("joint columns need the decision of every seat of the same tables in every step")
        return {
            name: column[rows].reshape(steps, width // seats, seats, *column.shape[1:])
            for name, column in self.columns.items()
        }

    def with_columns(self, columns: Columns) -> Experience:
        """The same rows with these columns added, or put in the place of others of their names."""
        return replace(self, columns={**self.columns, **columns})

    # Columns of actor-critic algorithms by name

    @property
    def observations(self) -> Any:
        """The array "obs", or a mapping of the parts by their names."""
        whole = self.columns.get("obs")
        return {key[4:]: column for key, column in self.part("obs").items()} if whole is None else whole

    @property
    def legal(self) -> NDArray[np.bool_]:
        return self.columns["legal"]

    @property
    def actions(self) -> NDArray[Any]:
        return self.columns["action"]

    @property
    def rewards(self) -> NDArray[np.float32]:
        """Everything the seat earned from this decision until its next one."""
        return self.columns["reward"]

    @property
    def log_probs(self) -> NDArray[np.float32]:
        """Of the action, under the policy that took it."""
        return self.columns["log_prob"]

    @property
    def values(self) -> NDArray[np.float32]:
        """That policy's value estimate of the position."""
        return self.columns["value"]

    @property
    def states(self) -> NDArray[np.float32]:
        """The state a recurrent policy had before each decision; [rows, 0] for others."""
        found = self.columns.get(STATE)
        return np.zeros((len(self), 0), np.float32) if found is None else found


SampleBatch = Experience
"""The earlier name, for users' own algorithms."""


def merge(batches: Sequence[Experience]) -> Experience:
    """Several batches as one; their links keep streams separate, and each batch's tables get numbers of their own."""
    if len(batches) == 1:
        return batches[0]
    starts = np.cumsum([0, *(len(batch) for batch in batches[:-1])])
    tables = np.cumsum([0, *(batch.tables for batch in batches)])
    columns = {name: np.concatenate([batch.columns[name] for batch in batches]) for name in batches[0].columns}
    links = [np.where(b.next_row >= 0, b.next_row + s, b.next_row) for b, s in zip(batches, starts, strict=True)]
    steps = [b.offsets[1:] + s for b, s in zip(batches, starts, strict=True)]
    return Experience(
        columns=columns,
        next_row=np.concatenate(links),
        offsets=np.concatenate([np.zeros(1, np.int64), *steps]),
        streams=np.concatenate([b.streams + t * len(b.teams) for b, t in zip(batches, tables[:-1], strict=True)]),
        acted_by=np.concatenate([batch.acted_by for batch in batches]),
        carried=np.concatenate([b.carried + s for b, s in zip(batches, starts, strict=True)]),
        finals=np.concatenate([b.finals + s for b, s in zip(batches, starts, strict=True)]),
        tables=int(tables[-1]),
        teams=batches[0].teams,
    )


def __getattr__(name: str) -> object:
    """`gae` and `Targets` under their earlier address, for users' own algorithms."""
    if name in ("gae", "Targets"):
        from workers.algorithms.targets import gae  # a circular import at the top

        return getattr(gae, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
