"""Implicit Q-learning (Kostrikov, Nair and Levine, 2021): offline, without values of actions outside the data."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from gymnasium import spaces
from torch import Tensor, nn

from orchestrator.spec.algorithms.imitation import IqlOptions
from workers.algorithms.contract import NetFactory
from workers.algorithms.imitation.likelihood import log_likelihood
from workers.algorithms.imitation.offline import Losses, Offline
from workers.algorithms.learner import POLICY, Learner
from workers.buffers.contract import Batch
from workers.games.protocol import GameSpec
from workers.models.contract import run_model
from workers.models.encoding import Observed

CRITIC, VALUE = "critic", "value"


class Iql(Offline):
    """Expectile regression of values, one-step Q targets, and a policy weighted by advantages.

    With u = Q'(s, a) - V(s), Q' the lagged critic, and the expectile tau:

        L_V = E |tau - [u < 0]| u^2
        L_Q = E (r + gamma V(s') - Q(s, a))^2
        L_pi = -E min(exp(beta u), limit) log pi(a|s)

    There is one critic; the authors take the minimum of two for Q'.
    """

    Options = IqlOptions
    options: IqlOptions

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        if spec.discrete:
            critic = net(CRITIC, outputs=spec.actions)
        else:
            critic = net(CRITIC, observation=spaces.Dict({"obs": spec.observation, "action": spec.action}))
        learner = Learner({POLICY: net(POLICY), CRITIC: critic, VALUE: net(VALUE)})
        learner.optimiser(
            nets=(POLICY, CRITIC, VALUE),
            learning_rate=self.options.learning_rate,
            gradient_clip=self.options.gradient_clip,
        )
        learner.lag(CRITIC, tau=self.options.target_rate)
        return learner

    def losses(self, batch: Batch, nets: Mapping[str, nn.Module]) -> Losses:
        options = self.options
        values = run_model(nets[VALUE], batch.obs, batch.legal)[1].float()
        with torch.no_grad():
            quality = self._quality(nets[f"lagged/{CRITIC}"], batch)
            advantage = quality - values
            after = run_model(nets[VALUE], batch.next_obs, batch.next_legal)[1].float()
            target = batch["reward"] + batch["discount"] * after
            weights = (options.temperature * advantage).exp().clamp(max=float(options.largest_weight))
        found = {
            "value_loss": expectile_loss(quality - values, options.expectile),
            "critic_loss": (target - self._quality(nets[CRITIC], batch)).square().mean(),
            "policy_loss": -(weights * log_likelihood(nets[POLICY], batch)[0]).mean(),
        }
        total = found["value_loss"] + found["critic_loss"] + found["policy_loss"]
        return {"loss": total, **found, "advantage": advantage.mean()}

    def _quality(self, critic: nn.Module, batch: Batch) -> Tensor:
        """Q of the recorded actions."""
        if _is_discrete(batch):
            outputs = run_model(critic, batch.obs, None)[0].float()
            return outputs.gather(1, batch["action"].unsqueeze(1)).squeeze(1)
        return run_model(critic, self.observed(CRITIC, batch), None)[1].float()

    def observed(self, name: str, batch: Batch) -> Observed:
        seen: Observed = batch.obs
        if name != CRITIC or _is_discrete(batch):
            return seen
        parts = {f"obs/{part}": rows for part, rows in seen.items()} if isinstance(seen, dict) else {"obs": seen}
        return {**parts, "action": batch["action"]}


def _is_discrete(batch: Batch) -> bool:
    """Whether the critic has an output for each action; else it sees the action."""
    return batch["action"].ndim == 1


def expectile_loss(error: Tensor, expectile: float) -> Tensor:
    """The mean of |expectile - [error < 0]| error^2."""
    weights = torch.where(error < 0, 1.0 - expectile, expectile)
    return (weights * error.square()).mean()
