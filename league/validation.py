"""Input validation shared by all rules: counts, finite numbers, arrays, matrices, options and names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from league.errors import InvalidInput, UnknownRule

Floats = NDArray[np.float64]
Options = TypeVar("Options")

LARGEST_COUNT = 2**63 - 1
"""The largest value of a database's bigint; a larger count of games is a mistake."""


def whole_count(value: Any, what: str) -> int:
    """`value` as a count: a whole number from 0 to LARGEST_COUNT."""
    try:
        if not math.isfinite(value) or int(value) != value:
            raise InvalidInput(f"{what} must be a whole number, got {value!r}")
    except (TypeError, OverflowError) as error:
        raise InvalidInput(f"{what} must be a whole number up to {LARGEST_COUNT}, got {value!r}") from error
    if not 0 <= value <= LARGEST_COUNT:
        raise InvalidInput(f"{what} must lie between 0 and {LARGEST_COUNT}, got {value!r}")
    return int(value)


def finite(value: Any, what: str) -> float:
    """`value` as a finite float."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{what} must be a finite number, got {value!r}") from error
    if not math.isfinite(number):
        raise InvalidInput(f"{what} must be a finite number, got {value!r}")
    return number


def between(value: Any, low: float, high: float, what: str) -> float:
    """`value` as a float in the closed range [low, high]."""
    number = finite(value, what)
    if not low <= number <= high:
        raise InvalidInput(f"{what} must lie between {low:g} and {high:g}, got {value!r}")
    return number


def strictly_between(value: Any, low: float, high: float, what: str) -> float:
    """`value` as a float in the open range (low, high)."""
    number = finite(value, what)
    if not low < number < high:
        raise InvalidInput(f"{what} must lie strictly between {low:g} and {high:g}, got {value!r}")
    return number


def finite_array(values: ArrayLike, what: str, *, dimensions: int) -> Floats:
    """`values` as a fresh float array without NaN or infinity."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"{what} must be numbers: {error}") from error
    if array.size == 0 and array.ndim <= dimensions:
        return np.zeros((0,) * dimensions)
    if array.ndim != dimensions:
        raise InvalidInput(f"{what} must have {dimensions} dimension(s), got shape {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(index) for index in np.argwhere(~np.isfinite(array))[0])
        raise InvalidInput(f"{what} must be finite, got {array[where]} at {where}")
    return array


def win_rate_vector(values: ArrayLike) -> Floats:
    """Win rates in [0, 1], one per opponent."""
    rates = finite_array(values, "win rates", dimensions=1)
    if ((rates < 0) | (rates > 1)).any():
        where = int(np.argmax((rates < 0) | (rates > 1)))
        raise InvalidInput(f"win rates must lie between 0 and 1, got {rates[where]} at {where}")
    return rates


def square_matrix(values: ArrayLike, what: str) -> Floats:
    """A finite square matrix."""
    matrix = finite_array(values, what, dimensions=2)
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(f"{what} must be square, got shape {matrix.shape}")
    return matrix


def margins(values: ArrayLike, what: str = "payoff") -> Floats:
    """The antisymmetric part of a payoff, in units of 2w - 1.

    `values` holds win rates in [0, 1], or is antisymmetric already; the two cannot be confused, because
    only the all-zero matrix is both, and both readings of that one agree.
    """
    matrix = square_matrix(values, what)
    off_diagonal = matrix[~np.eye(len(matrix), dtype=bool)]
    if ((off_diagonal >= 0) & (off_diagonal <= 1)).all():
        return matrix - matrix.T
    if np.allclose(matrix, -matrix.T, rtol=1e-9, atol=1e-12):
        return (matrix - matrix.T) / 2
    raise InvalidInput(f"{what} must hold win rates between 0 and 1, or be antisymmetric")


def above_even(values: ArrayLike, what: str = "payoff") -> Floats:
    """Each entry of a constant-sum payoff minus half of the sum, in the payoff's own units.

    `values` holds win rates in [0, 1], whose sum is 1 up to estimation error, or P + P' is the same in every entry:
    then P_rs - sum/2 is (P_rs - P_sr) / 2.
    """
    matrix = square_matrix(values, what)
    sums = matrix + matrix.T
    off_diagonal = matrix[~np.eye(len(matrix), dtype=bool)]
    win_rates = ((off_diagonal >= 0) & (off_diagonal <= 1)).all()
    if win_rates or np.allclose(sums, sums.mean(), rtol=1e-9, atol=1e-9 * max(1.0, float(np.abs(matrix).max()))):
        return (matrix - matrix.T) / 2
    raise InvalidInput(f"{what} must hold win rates between 0 and 1, or have the same sum P + P' in every entry")


def distinct_names(names: Iterable[Any], what: str) -> tuple[Any, ...]:
    """`names` as a tuple; raises if a name occurs twice."""
    found = tuple(names)
    if len(set(found)) != len(found):
        doubled = next(name for index, name in enumerate(found) if name in found[:index])
        raise InvalidInput(f"{what} must be distinct, {doubled!r} occurs twice")
    return found


def options_from(kind: type[Options], given: Mapping[str, Any], rule: str) -> Options:
    """The options dataclass of a rule from plain values; raises for an unknown name."""
    allowed = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for name in given:
        if name not in allowed:
            raise UnknownRule(f"option of {rule}", name, allowed)
    return kind(**given)


def one_of(name: str, allowed: Sequence[str] | Mapping[str, Any], kind: str) -> str:
    """`name`; raises if it is not allowed."""
    if name not in allowed:
        raise UnknownRule(kind, name, allowed)
    return name
