"""A pull towards another policy: AlphaStar's prior (Vinyals et al. 2019), R-NaD's anchor (Perolat et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import Tensor

from orchestrator.spec.algorithms.actor_critic import ActorCriticOptions
from workers.algorithms.contract import Algorithm, NetFactory
from workers.algorithms.evaluation import outputs_of
from workers.algorithms.exploration.schedules import scheduled
from workers.algorithms.heads import HeadTerms, PolicyTerms
from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.metrics import Measured, minibatch_means
from workers.games.protocol import GameSpec
from workers.rollout.batch import Experience

_NEVER = 2**62


@dataclass(slots=True)
class Anchor:
    """A policy that each update stays near to: the loss of a row grows by weight * KL(policy, anchor)."""

    outputs: Tensor
    """[size, rows]: the anchor's masked outputs on the rows of a batch."""
    weight: float
    name: str = "anchor_kl"
    """Name of the metric: the mean divergence."""
    measured: Measured = field(default_factory=list)

    def gradient(self, terms: PolicyTerms | HeadTerms, index: Tensor) -> Tensor:
        """The gradient at the outputs of a minibatch, which is the mean over these rows; call it before the terms'."""
        divergence, gradient = terms.divergence(self.outputs.index_select(1, index))
        self.measured.append((divergence.mean(0, keepdim=True), len(index)))
        return gradient.mul_(self.weight / len(index))


def anchored(gradient: Tensor, pulls: Sequence[Tensor]) -> Tensor:
    """The gradient of a loss with those of the anchors added."""
    for pull in pulls:
        gradient.add_(pull)
    return gradient


def anchor_metrics(anchors: Sequence[Anchor]) -> dict[str, float]:
    """The mean divergence from each anchor."""
    return {name: value for a in anchors for name, value in minibatch_means([a.name], a.measured).items()}


class ActorCritic(Algorithm):
    """Base of the actor-critic algorithms: one network, and with `anchor` a frozen or lagged copy of it."""

    options: ActorCriticOptions

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        learner = super().build(spec, net)
        if self.options.anchor != "none":
            # A copy is made of the weights that the learner starts from; it is part of every checkpoint after.
            learner.lag(every=_NEVER if self.options.anchor == "initial" else self.options.anchor_every)
        return learner

    def schedule(self, learner: Learner, steps: int) -> None:
        """The learning rate falls over the player's steps, so that its last versions differ less from each other."""
        if over := self.options.learning_rate_steps:
            left = scheduled("linear", start=1.0, end=self.options.learning_rate_left, over=over, steps=steps)
            learner.optimisers[POLICY].learning_rate = self.options.learning_rate * left

    def anchors(self, learner: Learner, batch: Experience) -> list[Anchor]:
        """What this update stays near to."""
        if self.options.anchor == "none":
            return []
        return [Anchor(outputs_of(learner, batch, learner.lagged(POLICY)), self.options.anchor_weight)]
