"""The policy gradient with a value baseline, shared by the algorithms that use each batch once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import torch

from orchestrator.spec.algorithms.actor_critic import PolicyGradientOptions
from workers.algorithms.actor_critic.anchor import ActorCritic, anchor_metrics, anchored
from workers.algorithms.contract import Metrics, explained_variance, return_spread
from workers.algorithms.evaluation import BatchPass, evaluate
from workers.algorithms.heads import head_terms, value_gradient
from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.metrics import Measured, MetricMeans, minibatch_means
from workers.algorithms.targets.gae import Targets
from workers.buffers.contract import Buffer
from workers.models.contract import head_of
from workers.rollout.batch import Experience


class PolicyGradient(ActorCritic):
    """The loss of a row is -A log pi(a|s) + value_weight / 2 * ((V(s) - R) / spread)^2 - entropy * H(pi(.|s)).

    A and R are `targets`, constants of the loss; spread is the returns' standard deviation where that exceeds 1.
    """

    options: PolicyGradientOptions
    equal_steps = True
    corrects: ClassVar[bool] = True
    """Whether `targets` needs the batch under the present policy, which costs one more pass over it."""

    @abstractmethod
    def targets(self, played: Experience, present: Experience) -> Targets:
        """Advantages and value targets; `present` has log-probabilities and values of the present policy."""

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        rows = len(buffer.newest.trainable)
        metrics = MetricMeans()
        for _ in range(self.options.epochs):
            for measured in self._epoch(learner, buffer.newest, rng):
                metrics.add(measured, rows)
                yield {}
        yield metrics.values() | {"rows": float(rows)}

    def _epoch(self, learner: Learner, batch: Experience, rng: np.random.Generator) -> Iterator[Metrics]:
        """Yields after each gradient step; the epoch's metrics come with the last."""
        evaluation = evaluate(learner, batch)
        present, diverged = self._present(evaluation, batch, rng) if self.corrects else (batch, {})
        targets = self.targets(batch, present)
        anchors = self.anchors(learner, batch)
        advantages = learner.tensor(targets.advantages)
        returns = learner.tensor(targets.returns)
        scale = self.options.value_weight / return_spread(targets.returns[batch.trainable]) ** 2
        actions_taken = learner.tensor(batch.actions)
        entropies: Measured = []
        for rows in evaluation.minibatches(self.minibatches, rng):
            if len(rows):
                index, count = learner.tensor(rows), len(rows)
                logits, values = evaluation.forward(rows)
                terms = head_terms(head_of(learner.model), logits, actions_taken[index])
                entropies.append((terms.entropy.mean(0, keepdim=True), count))
                dloss_dlogp = advantages[index].mul_(-1.0 / count)
                errors = value_gradient(values, returns[index], values, 0.0)
                pulls = [anchor.gradient(terms, index) for anchor in anchors]
                evaluation.backward(
                    anchored(terms.gradient(dloss_dlogp, self.options.entropy / count), pulls),
                    errors.mul_(scale / count),
                )
            else:
                learner.optimisers[POLICY].clear()
            learner.step()
            yield {}
        trained = batch.trainable
        yield {
            **minibatch_means(["entropy"], entropies),
            **diverged,
            **anchor_metrics(anchors),
            "explained_variance": explained_variance(present.values[trained], targets.returns[trained]),
        }

    @torch.no_grad()
    def _present(
        self, evaluation: BatchPass, batch: Experience, rng: np.random.Generator
    ) -> tuple[Experience, dict[str, float]]:
        """The batch under the present policy, and the KL divergence from the policy that played it."""
        log_probs, values = batch.log_probs.copy(), batch.values.copy()
        for rows in evaluation.minibatches(self.minibatches, rng):
            if len(rows):
                logits, now = evaluation.forward(rows)
                actions = evaluation.learner.tensor(batch.actions[rows])
                log_probs[rows] = head_terms(head_of(evaluation.model), logits, actions).taken.cpu().numpy()
                values[rows] = now.cpu().numpy()
        shift = log_probs - batch.log_probs
        divergence = float((np.expm1(shift) - shift).sum()) / max(1, len(batch.trainable))
        return batch.with_columns({"log_prob": log_probs, "value": values}), {"kl": divergence}
