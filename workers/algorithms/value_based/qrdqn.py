"""Quantile-regression DQN (QR-DQN), Dabney et al. 2018."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from orchestrator.spec.algorithms.value_based import QrdqnOptions
from workers.algorithms.contract import NetFactory
from workers.algorithms.learner import POLICY
from workers.algorithms.targets.distributional import quantile_huber
from workers.algorithms.value_based.distributions import Quantiles
from workers.algorithms.value_based.heads import best_actions
from workers.algorithms.value_based.learning import Exploring, FromTransitions, Gradient, Step
from workers.games.protocol import GameSpec
from workers.inference.distributional import DistributionalGreedy
from workers.inference.policy import Policy


class Qrdqn(FromTransitions, Exploring):
    """Learns N quantiles theta_i(s, a) of the return towards r + gamma^n theta'_j(s', a*), by the quantile Huber loss.

    loss = sum_i mean_j |tau_i - [u < 0]| L(u), u = r + gamma^n theta'_j(s', a*) - theta_i(s, a), tau_i = (i + 1/2) / N;
    theta' is the target network, and a* the action of the best mean.
    """

    Options = QrdqnOptions
    options: QrdqnOptions

    @property
    def quantiles(self) -> Quantiles:
        """What the network's outputs mean."""
        return Quantiles(self.options.quantiles)

    def network(self, spec: GameSpec, net: NetFactory) -> nn.Module:
        return net(POLICY, outputs=self.quantiles.outputs(spec.actions))

    def actor(self, nets: Mapping[str, nn.Module]) -> Policy:
        return DistributionalGreedy(nets[POLICY], self.quantiles)

    def gradient(self, step: Step) -> Gradient:
        head, batch = self.quantiles, step.batch
        taken = batch["action"].view(-1, 1, 1).expand(-1, 1, head.count)
        best = best_actions(head(step.later[:, :-1]), batch.next_legal).unsqueeze(2).expand(-1, 1, head.count)
        later = head.values(step.lagged[:, :-1]).gather(1, best).squeeze(1)
        wanted = batch["reward"].unsqueeze(1) + batch["discount"].unsqueeze(1) * later
        values = head.values(step.now[:, :-1])
        predicted = values.gather(1, taken).squeeze(1)
        loss, slope = quantile_huber(predicted, wanted, self.options.kappa)
        gradient = torch.zeros_like(step.now)
        at_values = gradient[:, :-1].view(values.shape)
        at_values.scatter_(1, taken, slope.unsqueeze(1))
        mean = predicted.mean(1)
        return Gradient(gradient, loss, (mean - wanted.mean(1)).abs(), mean)
