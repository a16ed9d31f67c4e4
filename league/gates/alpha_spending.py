"""Alpha spending: many candidates may try one champion, and the chance of any false promotion stays alpha.

See docs/decisions/gates.md.
"""

from __future__ import annotations

import math

from league.errors import InvalidInput
from league.validation import strictly_between, whole_count


def alpha_for_candidate(alpha: float, number: int) -> float:
    """What the `number`-th candidate (from 1) against one champion may spend: 6 alpha / (pi k)^2.

    Over ever so many candidates these add up to alpha, and the bound to pass rises only by 2 ln k. A number
    is spent once its gate has played a game, whatever comes of it; a new champion starts again at 1.
    """
    strictly_between(alpha, 0, 1, "alpha")
    if whole_count(number, "number") < 1:
        raise InvalidInput(f"candidates are numbered from 1, got {number!r}")
    return 6 * alpha / (math.pi * number) ** 2
