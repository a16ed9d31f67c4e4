"""The rules of a population as its trial file gives them. Stdlib only: checking a trial file loads no numpy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from league.errors import InvalidInput

Range = tuple[float, float]


class Method(StrEnum):
    """How a member finds its donor."""

    TRUNCATION = "truncation"
    """A member of the lowest quantile looks at a random member of the highest."""
    BINARY_TOURNAMENT = "binary_tournament"
    """Every member looks at a random other one."""


class ScoreOf(StrEnum):
    """What members are compared by."""

    RATING = "rating"
    RETURN = "return"
    WIN_RATE = "win_rate"


@dataclass(frozen=True, kw_only=True)
class ExploitRule:
    """The method, its quantile, and how often a decision may copy from a member that is no better."""

    method: Method = Method.TRUNCATION
    quantile: float = 0.25
    level: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise InvalidInput(f"level must be above 0 and below 1, not {self.level:g}")
        if not 0 < self.quantile <= 0.5:
            raise InvalidInput(f"quantile must be above 0 and at most 0.5, not {self.quantile:g}")


@dataclass(frozen=True, kw_only=True)
class Exploration:
    """How one hyperparameter changes at a copy: times a random factor, or drawn anew."""

    perturb: tuple[float, ...] = ()
    resample: Range | None = None
    resample_probability: float = 0.25
    """How often it is drawn anew where it has factors too; without factors it always is."""
    initial: Range | None = None
    """The range that first values are drawn from; None: `resample`, or no draw."""
    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    """Whether values are whole numbers."""

    def __post_init__(self) -> None:
        if not 0 <= self.resample_probability <= 1:
            raise InvalidInput(f"resample_probability must be between 0 and 1, not {self.resample_probability:g}")
        if not self.perturb and self.resample is None:
            raise InvalidInput("a hyperparameter to explore needs factors to perturb by, or a range to resample from")
        if any(not (factor > 0 and math.isfinite(factor)) for factor in self.perturb):
            raise InvalidInput(f"the factors of perturb must be finite and above 0, not {list(self.perturb)}")
        for bounds in (self.initial, self.resample):
            if bounds is not None and not (-math.inf < bounds[0] < bounds[1] < math.inf):
                raise InvalidInput(f"a range must be [low, high] with low below high, not {list(bounds)}")

    @property
    def first(self) -> Range | None:
        """The range of first values; None: every member starts with the trial's value."""
        return self.initial or self.resample

    def fitted(self, value: float) -> float | int:
        """The value within the limits, and whole where it must be."""
        limited = min(max(value, self.low), self.high)
        return round(limited) if self.whole else limited
