"""Soft Q-learning with two networks and a learnt temperature (SQN): discrete SAC whose policy is the softmax of Q.

Haarnoja et al. 2017 (soft Q-learning), 2018 (automatic temperature); Christodoulou 2019 (SAC for discrete actions).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from orchestrator.spec.algorithms.value_based import SqnOptions
from workers.algorithms.contract import Algorithm, Metrics, NetFactory
from workers.algorithms.differentiable import Differentiable, differentiable
from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.value_based.heads import action_value_gradient
from workers.algorithms.value_based.learning import drawn_parts, replay, summary
from workers.buffers.contract import Batch, Buffer
from workers.games.protocol import GameSpec
from workers.inference.boltzmann import Boltzmann
from workers.inference.policy import Policy
from workers.models.contract import mask_logits
from workers.models.temperature import Temperature

SECOND, TEMPERATURE = "second", "temperature"


class Sqn(Algorithm):
    """Learns Q1 and Q2 towards y = r + gamma^n V(s'), V(s) = alpha log sum_a exp(min(Q1', Q2')(s, a) / alpha).

    It acts by pi(a | s) in proportion to exp(Q1(s, a) / alpha). The temperature alpha descends log(alpha) (H(pi) - H*),
    so that the entropy H nears H* = `entropy_share` * log(legal actions).
    """

    Options = SqnOptions
    options: SqnOptions
    actions = (spaces.Discrete,)
    recurrent = False

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        given = self.options
        learner = Learner({POLICY: net(POLICY), SECOND: net(SECOND), TEMPERATURE: Temperature(given.temperature)})
        learner.optimiser(
            nets=(POLICY, SECOND, TEMPERATURE), learning_rate=given.learning_rate, gradient_clip=given.gradient_clip
        )
        for name in (POLICY, SECOND):
            learner.lag(name, tau=given.target_rate, every=given.target_every)
        return learner

    def actor(self, nets: Mapping[str, nn.Module]) -> Policy:
        return Boltzmann(nets[POLICY], cast(Temperature, nets[TEMPERATURE]))

    def buffer(self, spec: GameSpec) -> Buffer:
        return replay(self.options)

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        rows = max(1, round(self.options.minibatch / self.processes))
        nets = [
            (differentiable(learner, name), differentiable(learner, name, lagged=True)) for name in (POLICY, SECOND)
        ]
        temperature = cast(Temperature, learner.nets[TEMPERATURE])
        measured: list[tuple[Tensor, Tensor]] = []
        for batch, ids in drawn_parts(learner, buffer, rows, self.gradient_steps, rng):
            if batch is None:
                learner.skip()
            else:
                loss, surprise, value = self._descend(nets, temperature, batch)
                learner.step()
                if self.options.prioritised:
                    buffer.feedback(ids, surprise.cpu().numpy())
                measured.append((loss, value))
            yield {}
        yield summary(measured, rows) | {"temperature": temperature.value}

    @torch.no_grad()
    def _descend(
        self, nets: list[tuple[Differentiable, Differentiable]], temperature: Temperature, batch: Batch
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Set the gradients of all networks; returns the mean loss, each row's error and the mean value."""
        alpha = temperature.value
        later = torch.minimum(*(lagged.values(batch.next_obs, batch.next_legal)[:, :-1] for _, lagged in nets))
        wanted = batch["reward"] + batch["discount"] * soft_value(later, batch.next_legal, alpha)
        taken = batch["action"].unsqueeze(1)
        errors = []
        with torch.enable_grad():
            outs = [online.record(batch.obs, batch.legal) for online, _ in nets]
        for (online, _), out in zip(nets, outs, strict=True):
            error = out[:, :-1].gather(1, taken).squeeze(1) - wanted
            slope = error * batch["weight"] / len(error)
            online.backward(action_value_gradient(slope, taken, batch.legal, out.shape[1] - 1, dueling=False))
            errors.append(error)
        assert temperature.log.grad is not None
        temperature.log.grad.fill_(
            entropy_excess(outs[0][:, :-1], batch.legal, alpha, self.options.entropy_share).mean()
            if self.options.automatic
            else 0.0
        )
        both = torch.stack(errors)
        return 0.5 * both.square().mean(), both.abs().mean(0), (wanted + errors[0]).mean()


def soft_value(values: Tensor, legal: Tensor | None, alpha: float) -> Tensor:
    """alpha log sum_a exp(Q(s, a) / alpha) over the legal actions, [rows]."""
    return alpha * torch.logsumexp(mask_logits(values, legal) / alpha, 1)


def entropy_excess(values: Tensor, legal: Tensor | None, alpha: float, share: float) -> Tensor:
    """The entropy of softmax(Q / alpha) minus `share` of the largest possible, [rows]."""
    log_probs = torch.log_softmax(mask_logits(values, legal) / alpha, 1)
    entropy = -(log_probs.exp() * log_probs).sum(1)
    count = torch.full_like(entropy, values.shape[1]) if legal is None else legal.sum(1).clamp(min=1).float()
    return entropy - share * count.log()
