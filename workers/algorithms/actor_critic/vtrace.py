"""V-trace (IMPALA): actor-critic that corrects for samples of an older policy, Espeholt et al. 2018."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orchestrator.spec.algorithms.actor_critic import VtraceOptions
from workers.algorithms.actor_critic.policy_gradient import PolicyGradient
from workers.algorithms.targets.gae import Targets
from workers.algorithms.targets.upgo import upgo
from workers.algorithms.targets.vtrace import vtrace
from workers.rollout.batch import Experience


class Vtrace(PolicyGradient):
    """One policy-gradient pass per batch, with importance weights along every seat's trajectory.

    A_t = rho_t (r_t + gamma v_(t+1) - V(s_t)), the value's target is v_t, and
    v_t = V(s_t) + rho_t (r_t + gamma V(s_(t+1)) - V(s_t)) + gamma c_t (v_(t+1) - V(s_(t+1))).
    """

    Options = VtraceOptions
    options: VtraceOptions

    def targets(self, played: Experience, present: Experience) -> Targets:
        options = self.options
        found = vtrace(
            played,
            present,
            gamma=options.gamma,
            lam=options.trace_lambda,
            rho_clip=options.rho_clip,
            trace_clip=options.trace_clip,
        )
        if not options.upgo:
            return found
        advantages = found.advantages + np.float32(options.upgo) * upgoing(played, present, options)
        return Targets(advantages=advantages, returns=found.returns)


def upgoing(played: Experience, present: Experience, options: VtraceOptions) -> NDArray[np.float32]:
    """The upgoing advantages, each with its clipped importance weight."""
    rho = np.minimum(np.exp(present.log_probs - played.log_probs), np.float32(options.rho_clip))
    found: NDArray[np.float32] = rho * upgo(played, options.gamma, present.values)
    return found
