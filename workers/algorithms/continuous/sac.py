"""Soft actor-critic (SAC), Haarnoja et al. 2018, with a learnt temperature."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from orchestrator.spec.algorithms.continuous import SacOptions
from workers.algorithms.continuous.critics import Critics
from workers.algorithms.continuous.off_policy import CRITICS, OffPolicy, Transitions, policy_pass, squashed_head
from workers.algorithms.contract import Metrics, NetFactory
from workers.algorithms.learner import POLICY, Learner
from workers.games.protocol import GameSpec
from workers.inference.bounded import SquashedPolicy
from workers.models.box_heads import LOG_STD, log_slope
from workers.models.temperature import Temperature

TEMPERATURE = "temperature"


class Sac(OffPolicy):
    """The policy maximises value and entropy; the temperature alpha keeps the entropy at its target.

    With a ~ pi(s) and a' ~ pi(s'), both reparameterised through a tanh onto the bounds:

        y        = r + gamma (min_i Q'_i(s', a') - alpha log pi(a'|s'))
        J(Q_i)   = 1/2 E (Q_i(s, a_replayed) - y)^2
        J(pi)    = E alpha log pi(a|s) - min_i Q_i(s, a)
        J(alpha) = -log alpha E (log pi(a|s) + target entropy)

    All three gradients are taken at the same weights, so that one step of one optimiser applies them.
    """

    Options = SacOptions
    options: SacOptions
    equal_steps = True

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        options = self.options
        nets = self.networks(spec, net)
        if options.learn_temperature:
            nets[TEMPERATURE] = Temperature(options.temperature)
        learner = Learner(nets)
        learner.optimiser(POLICY, list(nets), learning_rate=options.learning_rate, gradient_clip=options.gradient_clip)
        learner.lag(CRITICS, tau=options.target_rate)
        return learner

    def actor(self, nets: Mapping[str, nn.Module]) -> SquashedPolicy:
        return SquashedPolicy(nets[POLICY])

    def prepare(self, learner: Learner) -> None:
        critics, lagged = learner.nets[CRITICS], learner.lagged(CRITICS)
        assert isinstance(critics, Critics) and isinstance(lagged, Critics)
        width = squashed_head(learner.model).layout.width
        self._policy = policy_pass(learner, learner.model, 2 * width)
        self._critics, self._lagged = critics.passes(learner), lagged.passes(learner)
        given = self.options.target_entropy
        self._target_entropy = -float(width) if given is None else given

    @torch.no_grad()
    def step(self, learner: Learner, batch: Transitions, measure: bool) -> Metrics:
        rows = len(batch.rewards)
        alpha = self._alpha(learner)
        if not (self._policy.direct and self._critics.direct):
            learner.optimisers[POLICY].clear()
        critic_loss = self._critic_gradients(batch, alpha)
        drawn = Squashed(self._policy.forward(batch.shown)[0], batch.noise[0])
        judged = self._critics.forward(batch.shown, drawn.actions)
        least = judged.min(0, keepdim=True)
        at_values = torch.zeros_like(judged).scatter_(0, least.indices, -1.0 / rows)
        at_outputs = drawn.gradient(self._critics.action_gradient(at_values), alpha / rows)
        self._policy.backward(at_outputs.unsqueeze(0))
        entropy = -drawn.log_probs.mean()
        if self.options.learn_temperature:
            at_log = _temperature(learner).log.grad
            assert at_log is not None
            at_log.copy_(entropy - self._target_entropy)
        learner.step()
        if not measure:
            return {}
        return {
            "critic_loss": float(critic_loss),
            "policy_loss": float(-alpha * entropy - least.values.mean()),
            "entropy": float(entropy),
            "temperature": alpha,
            "value": float(least.values.mean()),
        }

    def _critic_gradients(self, batch: Transitions, alpha: float) -> Tensor:
        """Set the critics' gradients; returns their loss."""
        ahead = Squashed(self._policy.output(batch.next_shown)[0], batch.noise[1])
        values = self._lagged.output(batch.next_shown, ahead.actions).amin(0).squeeze(1)
        targets = batch.rewards + batch.discounts * (values - alpha * ahead.log_probs)
        errors = self._critics.forward(batch.shown, batch.actions) - targets.unsqueeze(1)
        self._critics.backward(errors / len(targets))
        return errors.square().mean() * (len(errors) / 2)

    def _alpha(self, learner: Learner) -> float:
        if not self.options.learn_temperature:
            return self.options.temperature
        return _temperature(learner).value


def _temperature(learner: Learner) -> Temperature:
    net = learner.nets[TEMPERATURE]
    assert isinstance(net, Temperature)
    return net


class Squashed:
    """Actions a = tanh(u) with u = mean + deviation * noise, and their log-densities; in units of half the range."""

    def __init__(self, outputs: Tensor, noise: Tensor) -> None:
        """`outputs` are those that a `SquashedHead` takes."""
        mean, given = outputs.chunk(2, 1)
        log_std = given.clamp(*LOG_STD)
        self._free = log_std == given
        self._spread = log_std.exp().mul_(noise)
        before = mean + self._spread
        self.actions = before.tanh()
        density = noise.square().mul_(-0.5).sub_(0.5 * math.log(2 * math.pi))
        self.log_probs = density.sub_(log_std).sub_(log_slope(before)).sum(1)

    def gradient(self, at_actions: Tensor, weight: float) -> Tensor:
        """d/doutputs of a loss with the gradient `at_actions`, plus `weight` times log-density.

        By u, -log(1 - a^2) has the derivative 2 a, and a has 1 - a^2; by the logarithm of the deviation, u has the
        deviation times the noise. The deviation has no gradient where it is at its bounds.
        """
        actions = self.actions
        at_means = at_actions - at_actions * actions * actions + (2.0 * weight) * actions
        at_spreads = (at_means * self._spread).sub_(weight).mul_(self._free)
        return torch.cat((at_means, at_spreads), 1)
