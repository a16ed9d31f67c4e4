"""The graph of rated games: tallies as sorted arrays of edges, so that no sum depends on the order of games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from league.errors import InvalidInput, UnknownPlayer
from league.validation import LARGEST_COUNT, Floats, whole_count

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Edges:
    """Results between pairs of nodes from the first one's view; `base` is a known part of their difference."""

    first: Indices
    second: Indices
    wins: Floats
    draws: Floats
    losses: Floats
    base: Floats

    @property
    def games(self) -> Floats:
        return self.wins + self.draws + self.losses

    def where(self, mask: NDArray[np.bool_]) -> Edges:
        """The edges that the mask keeps."""
        return Edges(*(getattr(self, name)[mask] for name in self.__dataclass_fields__))

    def chances(self, theta: Floats) -> tuple[Floats, Floats]:
        """Expected scores of the first and the second node, each on its own: 1 - p would lose digits of a small one."""
        gaps = np.clip(theta[self.first] - theta[self.second] + self.base, -700, 700)
        return np.asarray(1 / (1 + np.exp(-gaps))), np.asarray(1 / (1 + np.exp(gaps)))

    def information(self, theta: Floats) -> Floats:
        """n p (1 - p) of every edge."""
        first, second = self.chances(theta)
        return np.asarray(self.games * first * second)


def edges_from(names: Sequence[Any], tallies: Mapping[tuple[Any, Any], Any]) -> Edges:
    """Tallies between `names` (their positions are the nodes), both directions merged, in sorted order."""
    position = {name: index for index, name in enumerate(names)}
    try:
        ends = np.array([position[name] for a, b in tallies for name in (a, b)], dtype=np.intp).reshape(-1, 2)
    except KeyError as error:
        raise UnknownPlayer(error.args[0], "the rated names") from None
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"tallies must be keyed by pairs of names: {error}") from error
    if (ends[:, 0] == ends[:, 1]).any():
        name = names[int(ends[np.argmax(ends[:, 0] == ends[:, 1]), 0])]
        raise InvalidInput(f"{name!r} against itself is not a rating game")
    counts = _counts(list(tallies.values()))
    turned = ends[:, 0] > ends[:, 1]
    ends[turned] = ends[turned][:, ::-1]
    counts[turned] = counts[turned][:, ::-1]
    codes, inverse = np.unique(ends[:, 0] * len(names) + ends[:, 1], return_inverse=True)
    # a pair occurs at most twice, as (a, b) and as (b, a), so this sum is the same in either order
    merged = np.stack([np.bincount(inverse, counts[:, column], codes.size) for column in range(3)], axis=1)
    played = merged.sum(axis=1) > 0
    codes, merged = codes[played], merged[played]
    return Edges(
        codes // max(len(names), 1),
        codes % max(len(names), 1),
        merged[:, 0].copy(),
        merged[:, 1].copy(),
        merged[:, 2].copy(),
        np.zeros(codes.size),
    )


def _counts(values: list[Any]) -> Floats:
    """Wins, draws and losses per pair; whole arrays of integers are checked at once, the rest one by one."""
    try:
        table = np.array(values)
    except (ValueError, OverflowError):
        table = np.empty(0, dtype=object)
    if table.dtype.kind == "i" and table.shape == (len(values), 3) and (table >= 0).all():
        return table.astype(np.float64)
    checked = []
    for value in values:
        if not hasattr(value, "__len__") or len(value) != 3:
            raise InvalidInput(f"a tally is (wins, draws, losses), got {value!r}")
        checked.append([whole_count(count, "a count of games") for count in value])
    return np.minimum(np.array(checked, dtype=np.float64).reshape(-1, 3), float(LARGEST_COUNT))
