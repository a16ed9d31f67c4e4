"""Sequential halving: which of the considered actions is visited next (Karnin et al. 2013)."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray


def visit_sequence(considered: int, simulations: int) -> list[int]:
    """For each simulation the number of visits that the action to visit has had.

    Each phase visits all remaining actions equally often, then keeps the better half of them.
    """
    if considered <= 1:
        return list(range(simulations))
    phases = ceil(log2(considered))
    visits, left = [0] * considered, considered
    sequence: list[int] = []
    while len(sequence) < simulations:
        for _ in range(max(1, simulations // (phases * left))):
            sequence += visits[:left]
            visits[:left] = [count + 1 for count in visits[:left]]
        left = max(2, left // 2)
    return sequence[:simulations]


@lru_cache(maxsize=64)
def visit_table(most: int, simulations: int) -> NDArray[np.float32]:
    """[simulations, considered actions]: the sequences of every number of considered actions up to `most`."""
    rows = [visit_sequence(considered, simulations) for considered in range(most + 1)]
    return np.ascontiguousarray(np.array(rows, np.float32).T)
