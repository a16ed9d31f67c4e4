"""What the value-based algorithms share: target networks, replay, exploration, and the update over drawn rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from orchestrator.spec.algorithms.value_based import DoubleOptions, ExploringOptions, ValueOptions
from workers.algorithms.contract import Algorithm, Metrics, NetFactory
from workers.algorithms.differentiable import Differentiable, differentiable
from workers.algorithms.exploration.schedules import explore_rate
from workers.algorithms.learner import POLICY, Learner
from workers.buffers.contract import Batch, Buffer
from workers.buffers.prioritised import Prioritised
from workers.buffers.replay import Replay
from workers.games.protocol import GameSpec
from workers.inference.greedy import EpsilonGreedy
from workers.inference.policy import Policy

_STEPS_AT_ONCE, _BYTES_AT_ONCE = 16, 1 << 21
"""The most gradient steps, and bytes of observations, whose rows are drawn at once."""
_NONE: NDArray[np.int64] = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Step:
    """One gradient step's rows, with what the networks make of them: [rows, outputs + 1] each."""

    batch: Batch
    now: Tensor
    """The network, at the position of the decision."""
    later: Tensor
    """The network at the position that follows, if it chooses there (double DQN); else the target network."""
    lagged: Tensor
    """The target network at the position that follows."""


@dataclass(frozen=True, slots=True)
class Gradient:
    """What a loss gives back."""

    outputs: Tensor
    """The gradient of each row's loss at the network's outputs, [rows, outputs + 1]."""
    loss: Tensor
    """[rows]"""
    surprise: Tensor
    """What priorities are made of, [rows]."""
    value: Tensor
    """The values of the actions taken, [rows]."""


class ValueBased(Algorithm):
    """Has a network that values actions, and a target network that moves after it."""

    Options = DoubleOptions
    options: DoubleOptions
    actions = (spaces.Discrete,)

    def network(self, spec: GameSpec, net: NetFactory) -> nn.Module:
        """The network that values actions."""
        return net(POLICY)

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        learner = Learner(self.network(spec, net))
        learner.optimiser(learning_rate=self.options.learning_rate, gradient_clip=self.options.gradient_clip)
        learner.lag(tau=self.options.target_rate, every=self.options.target_every)
        return learner


class FromTransitions(ValueBased):
    """Learns from single transitions, drawn with equal chances or by priority."""

    recurrent = False

    @abstractmethod
    def gradient(self, step: Step) -> Gradient:
        """The loss of each row and its gradient at the network's outputs."""

    def buffer(self, spec: GameSpec) -> Buffer:
        return replay(self.options)

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        rows = max(1, round(self.options.minibatch / self.processes))
        nets = differentiable(learner), differentiable(learner, lagged=True)
        measured: list[tuple[Tensor, Tensor]] = []
        for batch, ids in drawn_parts(learner, buffer, rows, self.gradient_steps, rng):
            if batch is None:
                learner.skip()
            else:
                found = self._descend(learner, nets, batch)
                if self.options.prioritised:
                    buffer.feedback(ids, found.surprise.cpu().numpy())
                measured.append((found.loss, found.value))
            yield {}
        yield summary(measured, rows)

    @torch.no_grad()
    def _descend(self, learner: Learner, nets: tuple[Differentiable, Differentiable], batch: Batch) -> Gradient:
        """One gradient step."""
        online, target = nets
        seen, later = (batch.obs, batch.legal), (batch.next_obs, batch.next_legal)
        lagged = target.values(*later)
        with torch.enable_grad():
            if self.options.double:
                now, chosen = online.record_both(*seen, *later)
            else:
                now, chosen = online.record(*seen), lagged
        found = self.gradient(Step(batch, now, chosen, lagged))
        online.backward(found.outputs.mul_((batch["weight"] / len(now)).unsqueeze(1)))
        learner.step()
        return found


class Exploring(ValueBased):
    """Acts by the best value, or at random with a chance that falls by a schedule."""

    Options = ExploringOptions
    options: ExploringOptions

    def actor(self, nets: Mapping[str, nn.Module]) -> Policy:
        return EpsilonGreedy(nets[POLICY])

    def explore(self, steps: int) -> float:
        return explore_rate(self.options, steps)


def replay(options: ValueOptions, **changed: Any) -> Replay:
    """The buffer that the options ask for."""
    given = {**options.buffer_arguments, **changed}
    if not options.prioritised:
        return Replay(**given)
    return Prioritised(alpha=options.priority_alpha, beta=options.priority_beta, **given)


def drawn_parts(
    learner: Learner, buffer: Buffer, rows: int, steps: int, rng: np.random.Generator
) -> Iterator[tuple[Batch | None, NDArray[np.int64]]]:
    """The rows of each gradient step, with their weights as the column "weight", and their ids; None while too few.

    Rows of several steps are drawn at once, which has less overhead: their priorities are those before the first.
    """
    newest = buffer.newest
    width = sum(column.nbytes for column in newest.part("obs").values()) / max(1, len(newest))
    at_once = max(1, min(_STEPS_AT_ONCE, int(_BYTES_AT_ONCE / (rows * max(1.0, width)))))
    for start in range(0, steps, at_once):
        count = min(at_once, steps - start)
        drawn = buffer.draw(rows * count, rng)
        if drawn is None:
            yield from [(None, _NONE)] * count
            continue
        batch = drawn.tensors(learner.device)
        batch["weight"] = drawn.weight_tensor(learner.device)
        split = {name: torch.split(column, rows) for name, column in batch.items()}
        for number in range(count):
            part = Batch({name: parts[number] for name, parts in split.items()})
            yield part, drawn.ids[number * rows : (number + 1) * rows]


def summary(measured: list[tuple[Tensor, Tensor]], rows: int) -> dict[str, float]:
    """The means of losses and action values over the update's gradient steps."""
    if not measured:
        return {}
    losses, values = (torch.stack(part) for part in zip(*measured, strict=True))
    return {"loss": float(losses.mean()), "action_value": float(values.mean()), "rows": float(rows * len(measured))}
