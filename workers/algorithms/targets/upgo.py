"""The upgoing policy update (UPGO) of AlphaStar: learn from what went better than the value function expected.

    G_t = r_t + gamma * (G_(t+1)     if Q(s_(t+1), a_(t+1)) >= V(s_(t+1))
                         V(s_(t+1))  otherwise)
    Q(s, a) is estimated by r + gamma * V(s'),  A_t = G_t - V(s_t)

Vinyals et al., 2019.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workers.algorithms.targets.recursion import discounted_sums, known_rows, temporal_differences
from workers.rollout.batch import Experience


def upgo(batch: Experience, gamma: float, values: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """The upgoing advantage of each row; 0 where its successor is unknown.

    `values` are V of each row; by default those that the actor recorded. The sum of temporal differences goes on over
    each next decision whose own difference is at least 0: G_t - V_t = delta_t + gamma * [delta_(t+1) >= 0] (...).
    """
    known = known_rows(batch)
    errors = known * temporal_differences(batch, batch.values if values is None else values, gamma)
    good = np.append(errors >= 0, False).astype(np.float32)
    return discounted_sums(batch, errors, known * np.float32(gamma) * good[batch.next_row])[:-1]
