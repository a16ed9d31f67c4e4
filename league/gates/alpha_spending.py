"""Alpha spending: bounds the probability of any false promotion by alpha, over all candidates against one champion.

See docs/decisions/gates.md.
"""

from __future__ import annotations

import math

from league.errors import InvalidInput
from league.validation import strictly_between, whole_count


def alpha_for_candidate(alpha: float, number: int) -> float:
    """The alpha of the `number`-th candidate (k, from 1) against one champion: 6 alpha / (pi k)^2.

    The sum over infinitely many candidates is alpha, and the upper bound of the test rises only by 2 ln k. A number
    is used up once its gate has played a game; the count starts at 1 again with a new champion.
    """
    strictly_between(alpha, 0, 1, "alpha")
    if whole_count(number, "number") < 1:
        raise InvalidInput(f"candidates are numbered from 1, got {number!r}")
    return 6 * alpha / (math.pi * number) ** 2
