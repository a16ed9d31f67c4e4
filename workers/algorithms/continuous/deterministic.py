"""What DDPG and TD3 share: a deterministic policy that climbs the value which a critic gives its actions."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from orchestrator.spec.algorithms.continuous import DdpgOptions
from workers.algorithms.continuous.critics import Critics
from workers.algorithms.continuous.off_policy import CRITICS, OffPolicy, Transitions, policy_pass, squashed_head
from workers.algorithms.contract import Metrics, NetFactory
from workers.algorithms.learner import POLICY, Learner
from workers.games.protocol import GameSpec
from workers.inference.bounded import DeterministicPolicy


class Deterministic(OffPolicy):
    """A policy a = tanh(mean(s)) onto the bounds, with critics and lagged copies of all networks."""

    options: DdpgOptions

    @property
    def policy_delay(self) -> int:
        """Critic steps for one step of the policy."""
        return 1

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        options = self.options
        learner = Learner(self.networks(spec, net))
        for name in (CRITICS, POLICY):
            learner.optimiser(name, [name], learning_rate=options.learning_rate, gradient_clip=options.gradient_clip)
        learner.lag(CRITICS, tau=options.target_rate, every=self.policy_delay)
        learner.lag(POLICY, tau=options.target_rate)
        return learner

    def actor(self, nets: Mapping[str, nn.Module]) -> DeterministicPolicy:
        return DeterministicPolicy(nets[POLICY], self.options.noise)

    def explore(self, steps: int) -> float:
        return 1.0 if steps < self.options.warm_up * self.processes else self.options.noise_scale

    def prepare(self, learner: Learner) -> None:
        critics, lagged = learner.nets[CRITICS], learner.lagged(CRITICS)
        assert isinstance(critics, Critics) and isinstance(lagged, Critics)
        width = squashed_head(learner.model).layout.width
        self._policy = policy_pass(learner, learner.model, width)
        self._lagged_policy = policy_pass(learner, learner.lagged(POLICY), width)
        self._width = width
        self._critics, self._lagged = critics.passes(learner), lagged.passes(learner)
        self._first = critics.first_pass(learner)

    def smoothed(self, actions: Tensor, noise: Tensor) -> Tensor:
        """The lagged policy's actions as they are judged."""
        return actions

    @torch.no_grad()
    def step(self, learner: Learner, batch: Transitions, measure: bool) -> Metrics:
        ahead = self._lagged_policy.output(batch.next_shown)[0, :, : self._width].tanh()
        ahead = self.smoothed(ahead, batch.noise[1])
        values = self._lagged.output(batch.next_shown, ahead).amin(0).squeeze(1)
        targets = batch.rewards + batch.discounts * values
        if not self._critics.direct:
            learner.optimisers[CRITICS].clear()
        errors = self._critics.forward(batch.shown, batch.actions) - targets.unsqueeze(1)
        self._critics.backward(errors * (2.0 / len(targets)))
        learner.step(CRITICS)
        if learner.optimisers[CRITICS].updates % self.policy_delay == 0:
            self._climb(learner, batch)
        if not measure:
            return {}
        return {"critic_loss": float(errors.square().mean() * len(errors)), "value": float(targets.mean())}

    def _climb(self, learner: Learner, batch: Transitions) -> None:
        """One step of the policy along the first critic's gradient at its actions."""
        if not self._policy.direct:
            learner.optimisers[POLICY].clear()
        outputs = self._policy.forward(batch.shown)
        actions = outputs[0, :, : self._width].tanh()
        judged = self._first.forward(batch.shown, actions)
        at_actions = self._first.action_gradient(torch.full_like(judged, -1.0 / len(actions)))
        gradient = torch.zeros_like(outputs)
        gradient[0, :, : self._width] = at_actions.addcmul_(at_actions, actions * actions, value=-1.0)
        self._policy.backward(gradient)
        learner.step(POLICY)
