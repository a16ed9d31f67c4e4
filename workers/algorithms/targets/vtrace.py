"""V-trace targets: corrected for the difference between the policy that played and the present one.

    v_t = V(s_t) + delta_t + gamma * c_t * (v_(t+1) - V(s_(t+1)))
    delta_t = rho_t * (r_t + gamma * V(s_(t+1)) - V(s_t))
    rho_t = min(rho_clip, pi / mu),  c_t = lambda * min(trace_clip, pi / mu)
    A_t = rho_t * (r_t + gamma * v_(t+1) - V(s_t))

Espeholt et al., 2018.
"""

from __future__ import annotations

import numpy as np

from workers.algorithms.targets.gae import Targets
from workers.algorithms.targets.recursion import discounted_sums, known_rows, temporal_differences
from workers.rollout.batch import Experience


def vtrace(
    played: Experience,
    present: Experience,
    *,
    gamma: float,
    lam: float = 1.0,
    rho_clip: float = 1.0,
    trace_clip: float = 1.0,
) -> Targets:
    """V-trace targets for the current policy (`present`) from games of an older one (`played`)."""
    discount = np.float32(gamma)
    known = known_rows(played)
    ratio = np.exp(present.log_probs - played.log_probs)
    rho = np.minimum(ratio, np.float32(rho_clip))
    trace = known * discount * np.float32(lam) * np.minimum(ratio, np.float32(trace_clip))
    errors = known * rho * temporal_differences(played, present.values, gamma)
    returns = np.append(present.values, np.float32(0)) + discounted_sums(played, errors, trace)
    advantages = known * rho * (played.rewards + discount * returns[played.next_row] - present.values)
    return Targets(advantages=advantages, returns=returns[:-1])
