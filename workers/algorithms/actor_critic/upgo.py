"""AlphaStar's policy update: V-trace, the upgoing policy update and TD(lambda) values, Vinyals et al. 2019."""

from __future__ import annotations

from orchestrator.spec.algorithms.actor_critic import UpgoOptions
from workers.algorithms.actor_critic.vtrace import Vtrace
from workers.algorithms.targets.gae import Targets
from workers.algorithms.targets.td_lambda import td_lambda
from workers.rollout.batch import Experience


class Upgo(Vtrace):
    """A_t = rho_t (r_t + gamma v_(t+1) - V(s_t)) + upgo * rho_t (G_t - V(s_t)).

    v is V-trace's target and G the upgoing return: G_t = r_t + gamma G_(t+1) where the next decision was at least as
    good as its value, else r_t + gamma V(s_(t+1)). Values learn the lambda-return.
    """

    Options = UpgoOptions
    options: UpgoOptions

    def targets(self, played: Experience, present: Experience) -> Targets:
        options = self.options
        returns = td_lambda(played, options.gamma, options.value_lambda, present.values)
        return Targets(advantages=super().targets(played, present).advantages, returns=returns)
