"""Proximal policy optimisation (PPO), Schulman et al. 2017."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from orchestrator.spec.algorithms.actor_critic import PpoOptions
from workers.algorithms.actor_critic.anchor import ActorCritic, Anchor, anchor_metrics, anchored
from workers.algorithms.actor_critic.clipping import log_ratio, surrogate_gradient, unclipped
from workers.algorithms.contract import Metrics, explained_variance, return_spread
from workers.algorithms.evaluation import Rows, evaluate
from workers.algorithms.heads import head_terms, value_gradient
from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.metrics import Measured, minibatch_means
from workers.algorithms.targets.gae import gae
from workers.algorithms.targets.recursion import Floats
from workers.algorithms.targets.upgo import upgo
from workers.buffers.contract import Buffer
from workers.models.contract import head_of
from workers.models.heads import Head
from workers.rollout.batch import Experience

_Known = tuple[Tensor, Tensor]
"""Of the rows of a minibatch: the actions, and the numbers of `_Columns`."""
_Seen = tuple[Tensor, ...]
"""What the metrics of a minibatch need: logarithms of the ratios, entropies, free rows, values and returns."""


class PpoGradients(NamedTuple):
    """The gradients of a minibatch's loss at the outputs and the values, and what the metrics need of it."""

    outputs: Tensor
    values: Tensor
    seen: _Seen


@dataclass(slots=True)
class _Columns:
    """The batch's columns as tensors: the actions, and the floats in one tensor, so that one gather reads them."""

    actions: Tensor
    numbers: Tensor
    """[4, rows]: log-probability, value, advantage, return."""
    spread: float
    """`return_spread` of the batch: the value loss is divided by its square, so that large rewards do not dominate."""
    head: Head | None
    """The distribution of the actions."""
    anchors: list[Anchor]
    """What the update stays near to."""
    entropy: float
    """Weight of the entropy bonus."""

    def of(self, parts: Sequence[Rows]) -> Iterator[_Known]:
        """Actions and numbers of each minibatch: slices of one gather for all of them."""
        order = self.index(np.concatenate(parts))
        sizes = [len(rows) for rows in parts]
        actions = torch.split(self.actions.index_select(0, order), sizes)
        numbers = torch.split(self.numbers.index_select(1, order), sizes, 1)
        return zip(actions, numbers, strict=True)

    def index(self, rows: Rows) -> Tensor:
        return torch.from_numpy(rows).to(self.numbers.device)


class Ppo(ActorCritic):
    """Clipped policy ratio, generalised advantages, and an early end of the update when the policy has moved enough.

    The loss of a row is -min(r A, clip(r, 1 - clip, 1 + clip) A) + value_weight / 2 * ((V(s) - R) / spread)^2
    - entropy * H(pi(.|s)), with the ratio r = pi(a|s) / pi_old(a|s) and generalised advantages A.
    """

    Options = PpoOptions
    options: PpoOptions
    equal_steps = True
    """Every process makes the same minibatches, and ends an update early by the KL divergence of all of them."""

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        options, batch = self.options, buffer.newest
        targets = gae(batch, options.gamma, options.gae_lambda)
        trainable = batch.trainable
        advantages = targets.advantages
        if options.upgo:
            advantages = advantages + np.float32(options.upgo) * upgo(batch, options.gamma)
        spread = return_spread(targets.returns[trainable])
        advantages = self.scaled(advantages, trainable, spread)
        columns = _Columns(
            learner.tensor(batch.actions),
            learner.tensor(np.stack([batch.log_probs, batch.values, advantages, targets.returns])),
            spread,
            head_of(learner.model),
            self.anchors(learner, batch),
            self.entropy_weight(learner),
        )
        measured: Measured = []
        epochs = 0
        for epoch, means in self._epochs(learner, batch, columns, rng):
            epochs = epoch
            measured += means
            yield {}
        yield {
            "epochs": float(epochs),
            **minibatch_means(_MEASURED, measured),
            **anchor_metrics(columns.anchors),
            "explained_variance": explained_variance(batch.values[trainable], targets.returns[trainable]),
            "rows": float(len(trainable)),
        }

    def scaled(self, advantages: Floats, trainable: Rows, spread: float) -> Floats:
        """The advantages in the units of the policy's loss; `spread` is `return_spread` of the batch."""
        if not self.options.normalise_advantages or len(trainable) < 2:
            return advantages
        known = advantages[trainable]
        found: Floats = (advantages - known.mean()) / (known.std() + np.float32(1e-8))
        return found

    def entropy_weight(self, learner: Learner) -> float:
        """Weight of the entropy bonus in this update."""
        return self.options.entropy

    def free(self, ratio: Tensor, advantages: Tensor) -> Tensor:
        """Whether each row's ratio may still move in the direction of its advantage."""
        return unclipped(ratio, advantages, self.options.clip)

    def _epochs(
        self, learner: Learner, batch: Experience, columns: _Columns, rng: np.random.Generator
    ) -> Iterator[tuple[int, Measured]]:
        """Yields the number of the epoch after each gradient step; after its last step the epoch's means too."""
        options = self.options
        evaluation = evaluate(learner, batch)
        epochs, kl = 0, 0.0
        while epochs < options.epochs:
            epochs += 1
            parts = list(evaluation.minibatches(self.minibatches, rng))
            seen: list[_Seen] = []
            for number, (rows, known) in enumerate(zip(parts, columns.of(parts), strict=True), start=1):
                last = number == self.minibatches
                if len(rows):
                    logits, values = evaluation.forward(rows)
                    found = self._gradients(logits, values, known, rows, columns)
                    evaluation.backward(found.outputs, found.values)
                    seen.append(found.seen)
                    # The early stop looks at the KL of the epoch's last minibatch, averaged over all processes.
                    kl = float(_divergence(found.seen[0])) if last else kl
                else:
                    learner.optimisers[POLICY].clear()
                self._add_gradient(learner, rng)
                # a process that waits for the others reads the rows of its next minibatch
                meanwhile = None if last else partial(evaluation.prefetch, parts[number])
                reduced = learner.step(reduced_scalar=kl if last else 0.0, meanwhile=meanwhile)
                kl = reduced if last else kl
                yield epochs, _measure(seen) if last else []
            if options.target_kl and kl > 1.5 * options.target_kl:
                break

    def _add_gradient(self, learner: Learner, rng: np.random.Generator) -> None:
        """Add to the gradient of a minibatch; for algorithms that extend PPO's loss."""

    def _gradients(self, logits: Tensor, values: Tensor, known: _Known, rows: Rows, columns: _Columns) -> PpoGradients:
        options, count = self.options, len(rows)
        actions, (old_log_probs, old_values, advantages, returns) = known
        terms = head_terms(columns.head, logits, actions)
        shift = log_ratio(terms.taken, old_log_probs)
        ratio = shift.exp()
        free = self.free(ratio, advantages)
        dloss_dlogp = surrogate_gradient(ratio, advantages, free, 1.0 / count)
        pulls = [anchor.gradient(terms, columns.index(rows)) for anchor in columns.anchors]
        at_values = value_gradient(values, returns, old_values, options.value_clip * columns.spread)
        return PpoGradients(
            anchored(terms.gradient(dloss_dlogp, columns.entropy / count), pulls),
            at_values.mul_(options.value_weight / (count * columns.spread**2)),
            (shift, terms.entropy, free, values, returns),
        )


_MEASURED = ("kl", "entropy", "clip_fraction", "value_loss")


def _measure(seen: Sequence[_Seen]) -> Measured:
    """The means of _MEASURED over the minibatches of one epoch, all at once: a gradient step has few operations."""
    if not seen:
        return []
    shift, entropy, free, values, returns = (torch.cat(parts) for parts in zip(*seen, strict=True))
    error, rows = values - returns, len(values)
    means = [_divergence(shift), entropy.mean(), 1.0 - torch.count_nonzero(free) / rows, torch.dot(error, error) / rows]
    return [(torch.stack(means), rows)]


def _divergence(shift: Tensor) -> Tensor:
    """The KL divergence from the policy that acted, estimated from the logarithms of the ratios."""
    return (shift.exp() - 1.0 - shift).mean()
