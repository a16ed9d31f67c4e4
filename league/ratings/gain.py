"""How much rating a line of versions gains per million steps, with its 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z95 = 1.959963984540054
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class RatingGain:
    """Elo gained per million steps; the interval is unknown where the variance is."""

    per_million: float
    low: float | None
    high: float | None

    @property
    def is_certain(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def compared_versions(steps: Sequence[int]) -> tuple[int, int] | None:
    """Places of the two versions whose ratings are compared: the newest, and the one nearest to half its steps.

    So the gain is that of the later half of the training: long enough for a small interval, and not of the first
    games, in which every league gains. None if fewer than two versions differ in steps.
    """
    if not steps:
        return None
    newest = max(range(len(steps)), key=lambda place: (steps[place], place))
    earlier = [place for place in range(len(steps)) if steps[place] < steps[newest]]
    if not earlier:
        return None
    half = steps[newest] / 2
    return min(earlier, key=lambda place: (abs(steps[place] - half), -steps[place])), newest


def rating_gain(*, difference: float, variance: float | None, steps: int) -> RatingGain:
    """The gain from a difference of two ratings, its variance, and the steps between them."""
    scale = MILLION / steps
    gain = difference * scale
    if variance is None:
        return RatingGain(gain, None, None)
    width = Z95 * math.sqrt(variance) * scale
    return RatingGain(gain, gain - width, gain + width)
