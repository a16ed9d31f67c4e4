"""Fitted ratings with their full covariance, which gives the confidence interval of every difference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, Final

from league.errors import UnknownPlayer
from league.validation import Floats, strictly_between

ELO_PER_NAT: Final = 400 / math.log(10)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ratings:
    """Strengths in natural units (Elo = 400 theta / ln 10), the anchor at 0, and their covariance."""

    names: tuple[Any, ...]
    theta: Floats
    covariance: Floats
    """Of theta relative to the anchor, whose row and column are 0."""
    anchor: Any
    components: tuple[int, ...]
    """Players of one component have a plain maximum-likelihood difference; between components the prior matters."""
    games: tuple[int, ...]

    @property
    def separable(self) -> frozenset[Any]:
        """Players outside the largest component; all players if no component is the largest."""
        sizes = [self.components.count(component) for component in sorted(set(self.components))]
        if len(sizes) < 2:
            return frozenset()
        largest = max(sizes)
        main = sizes.index(largest) if sizes.count(largest) == 1 else None
        return frozenset(name for name, component in zip(self.names, self.components, strict=True) if component != main)

    def elo(self, name: Any) -> float:
        """The rating, relative to the anchor."""
        return float(self.theta[self._index(name)]) * ELO_PER_NAT

    def elos(self) -> Mapping[Any, float]:
        """All ratings by name."""
        return dict(zip(self.names, (self.theta * ELO_PER_NAT).tolist(), strict=True))

    def standard_error(self, a: Any, b: Any) -> float:
        """Of the difference, in Elo: sqrt(C_aa + C_bb - 2 C_ab)."""
        i, j = self._index(a), self._index(b)
        variance = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        return math.sqrt(max(float(variance), 0.0)) * ELO_PER_NAT

    def difference(self, a: Any, b: Any, level: float = 0.95) -> tuple[float, float, float]:
        """How much stronger a is than b in Elo, with its confidence interval (elo, low, high)."""
        strictly_between(level, 0, 1, "level")
        elo = self.elo(a) - self.elo(b)
        half = NormalDist().inv_cdf((1 + level) / 2) * self.standard_error(a, b)
        return elo, elo - half, elo + half

    def comparable(self, a: Any, b: Any) -> bool:
        """Whether the difference is plain maximum likelihood, independent of the prior."""
        return self.components[self._index(a)] == self.components[self._index(b)]

    def expected_score(self, a: Any, b: Any) -> float:
        """a's expected score in a game against b."""
        gap = float(self.theta[self._index(a)] - self.theta[self._index(b)])
        return 1 / (1 + math.exp(-gap)) if gap >= 0 else math.exp(gap) / (1 + math.exp(gap))

    def _index(self, name: Any) -> int:
        try:
            return self._positions[name]
        except KeyError:
            raise UnknownPlayer(name, "these ratings") from None

    @cached_property
    def _positions(self) -> Mapping[Any, int]:
        return {name: index for index, name in enumerate(self.names)}
