"""V-trace (IMPALA): actor-critic that corrects for samples of an older policy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from orchestrator.spec.algorithms.actor_critic import VtraceOptions
from workers.algorithms.contract import Algorithm, Metrics, explained_variance, return_spread
from workers.algorithms.evaluation import Evaluation, evaluate
from workers.algorithms.heads import head_terms, value_gradient
from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.metrics import Measured, MetricMeans, minibatch_means
from workers.algorithms.targets.gae import Targets
from workers.buffers.contract import Buffer
from workers.models.contract import head_of
from workers.rollout.batch import PENDING, Experience


class Vtrace(Algorithm):
    """One policy-gradient pass per batch, with importance weights along every seat's trajectory."""

    Options = VtraceOptions
    options: VtraceOptions
    equal_steps = True

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
        present, divergence = self._present(evaluation, batch, rng)
        targets = vtrace(batch, present, self.options)
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
                evaluation.backward(
                    terms.gradient(dloss_dlogp, self.options.entropy / count),
                    errors.mul_(scale / count),
                )
            else:
                learner.optimisers[POLICY].clear()
            learner.step()
            yield {}
        trained = batch.trainable
        yield {
            **minibatch_means(["entropy"], entropies),
            "kl": divergence,
            "explained_variance": explained_variance(present.values[trained], targets.returns[trained]),
        }

    @torch.no_grad()
    def _present(self, evaluation: Evaluation, batch: Experience, rng: np.random.Generator) -> tuple[Experience, float]:
        """The batch under the current policy, and the KL divergence from the policy that played it."""
        log_probs, values = batch.log_probs.copy(), batch.values.copy()
        for rows in evaluation.minibatches(self.minibatches, rng):
            if len(rows):
                logits, now = evaluation.forward(rows)
                actions = evaluation.learner.tensor(batch.actions[rows])
                log_probs[rows] = head_terms(head_of(evaluation.model), logits, actions).taken.cpu().numpy()
                values[rows] = now.cpu().numpy()
        shift = log_probs - batch.log_probs
        divergence = float((np.expm1(shift) - shift).sum()) / max(1, len(batch.trainable))
        return batch.with_columns({"log_prob": log_probs, "value": values}), divergence


def vtrace(played: Experience, present: Experience, options: VtraceOptions) -> Targets:
    """V-trace targets for the current policy (`present`) from games of an older one (`played`)."""
    gamma = np.float32(options.gamma)
    known = (played.next_row != PENDING).astype(np.float32)
    ratio = np.exp(present.log_probs - played.log_probs)
    rho = np.minimum(ratio, np.float32(options.rho_clip))
    trace = known * gamma * np.float32(options.trace_lambda) * np.minimum(ratio, np.float32(options.trace_clip))
    # One extra zero at the end: index TERMINAL (-1) reads it.
    values = np.append(present.values, np.float32(0))
    errors = known * rho * (played.rewards + gamma * values[played.next_row] - present.values)
    corrections = np.zeros_like(values)
    offsets = played.offsets.tolist()
    for start, end in zip(reversed(offsets[:-1]), reversed(offsets[1:]), strict=True):
        later: NDArray[np.float32] = corrections[played.next_row[start:end]]
        corrections[start:end] = errors[start:end] + trace[start:end] * later
    returns = values + corrections
    advantages = known * rho * (played.rewards + gamma * returns[played.next_row] - present.values)
    return Targets(advantages=advantages, returns=returns[:-1])
