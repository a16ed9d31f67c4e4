"""The space of a sweep: what each field of the trial file may be, drawn at random or laid out as a grid."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from league.errors import InvalidInput
from league.seeds import derived_seed

_RANDOM_BITS = 53


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One of several values, of any kind."""

    values: tuple[Any, ...]

    def at(self, share: float) -> Any:
        """The value at a share of the range, from 0 to 1."""
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]

    def grid(self) -> tuple[Any, ...]:
        """Every value."""
        return self.values

    def position(self, value: Any) -> float:
        """Where a value lies, from 0 to 1."""
        return (self.values.index(value) + 0.5) / len(self.values)


@dataclass(frozen=True, kw_only=True)
class Uniform:
    """A number between two others; with `log`, each decade is as likely as another."""

    low: float
    high: float
    log: bool = False
    points: int | None = None
    """Values of a grid, evenly spread, both ends included."""

    def __post_init__(self) -> None:
        _check_range(self.low, self.high, self.log)

    def at(self, share: float) -> float:
        """The value at a share of the range, from 0 to 1."""
        if self.log:
            value = math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + share * (self.high - self.low)
        return min(max(value, self.low), self.high)

    def grid(self) -> tuple[float, ...]:
        """`points` values from the low end to the high end."""
        if self.points is None:
            raise InvalidInput("a grid needs `points` for a range of numbers, or `choice` instead of it")
        if self.points == 1:
            return (self.at(0.5),)
        return tuple(self.at(place / (self.points - 1)) for place in range(self.points))

    def position(self, value: Any) -> float:
        """Where a value lies, from 0 to 1."""
        return _position(float(value), self.low, self.high, self.log)


@dataclass(frozen=True, kw_only=True)
class Integer:
    """A whole number between two others, both included; with `log`, each decade is as likely as another."""

    low: int
    high: int
    log: bool = False
    points: int | None = None
    """Values of a grid, evenly spread; None: every number."""

    def __post_init__(self) -> None:
        _check_range(self.low, self.high, self.log)

    def at(self, share: float) -> int:
        """The value at a share of the range, from 0 to 1: every number has an equal part of it."""
        low, high = self.low - 0.5, self.high + 0.5
        if self.log:
            value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            value = low + share * (high - low)
        return min(max(round(value), self.low), self.high)

    def grid(self) -> tuple[int, ...]:
        """`points` numbers from the low end to the high end, or all of them."""
        if self.points is None:
            return tuple(range(self.low, self.high + 1))
        return tuple(dict.fromkeys(self.at(place / max(1, self.points - 1)) for place in range(self.points)))

    def position(self, value: Any) -> float:
        """Where a value lies, from 0 to 1."""
        return _position(float(value), self.low, self.high, self.log)


Dimension = Choice | Uniform | Integer
Space = Mapping[str, Dimension]
"""Paths into the trial file, such as `algorithm.learning_rate`, and what each may be."""


def random_point(space: Space, *, seed: int, number: int) -> dict[str, Any]:
    """The values of trial `number`: a function of the seed, the number and the path, and of nothing else."""
    return {path: one.at(_share(seed, number, path)) for path, one in space.items()}


def grid_points(space: Space, limit: int | None = None) -> list[dict[str, Any]]:
    """All combinations, the last path changing fastest; at most `limit` of them."""
    return list(islice(_combinations(space), limit))


def grid_size(space: Space) -> int:
    """How many combinations a grid has."""
    return math.prod(len(one.grid()) for one in space.values())


def _combinations(space: Space) -> Iterator[dict[str, Any]]:
    for values in product(*(one.grid() for one in space.values())):
        yield dict(zip(space, values, strict=True))


def _share(seed: int, number: int, path: str) -> float:
    return derived_seed("sweep", seed, number, path) / float(2**_RANDOM_BITS)


def _check_range(low: float, high: float, log: bool) -> None:
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InvalidInput(f"a range needs two numbers, the smaller first; it has {low:g} and {high:g}")
    if log and low <= 0:
        raise InvalidInput(f"a logarithmic range begins above 0, not at {low:g}")


def _position(value: float, low: float, high: float, log: bool) -> float:
    if log:
        value, low, high = math.log(value), math.log(low), math.log(high)
    return min(max((value - low) / (high - low), 0.0), 1.0)
