"""Finds numbers that are not finite in experience, once a batch, and says where they arose."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.rollout.batch import Experience
from workers.user_errors import NotFinite


def require_finite(batch: Experience, game: str) -> None:
    """Raise NotFinite if a reward or a number that the model returned is not finite.

    Looks at the columns of one number a row only: an observation that is not finite shows in the model's value.
    """
    if not all(_has_finite_sum(column) for column in batch.columns.values() if column.ndim == 1):
        explain_not_finite(batch, game)


def explain_not_finite(batch: Experience, game: str) -> None:
    """Raise NotFinite for the first kind of number in the batch that is not finite: observations, rewards, others."""
    if not len(batch):
        return
    observed = batch.part("obs")
    others = [name for name in batch.columns if name not in observed and name != "reward"]
    for name in (*observed, "reward", *others):
        column = batch.columns[name]
        if np.issubdtype(column.dtype, np.floating):
            bad = np.flatnonzero(~np.isfinite(column.reshape(len(column), -1)).all(axis=1))
            if len(bad):
                raise NotFinite(_words(name, column, batch, bad, game))


def _has_finite_sum(column: NDArray[Any]) -> bool:
    """Whether the sum is finite; one that is not may have overflowed."""
    if not np.issubdtype(column.dtype, np.floating):
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(column.sum()))


def _words(name: str, column: NDArray[Any], batch: Experience, bad: NDArray[np.int64], game: str) -> str:
    row = int(bad[0])
    numbers = column[row].reshape(-1)
    number = float(numbers[~np.isfinite(numbers)][0])
    where = f"seat {batch.seat[row]} at table {batch.table[row]}"
    count = f"{len(bad):,} of {len(batch):,} decisions of a batch"
    if name.partition("/")[0] == "obs":
        part = name.partition("/")[2]
        what = f"part {part!r} of the observation" if part else "the observation"
        return f"{game}: {what} of {where} has the number {number}, which is not finite (in {count})"
    if name == "reward":
        return f"{game}: the reward of {where} is {number}, which is not finite (in {count})"
    return (
        f"{game}: the model returned numbers that are not finite ({name} of {where} is {number}; in {count}); "
        "the observations and rewards of the batch are finite"
    )
