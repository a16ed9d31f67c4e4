"""What the off-policy algorithms of Box actions share: networks, minibatches from replay, and the bounds of actions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from torch import Tensor, nn

from orchestrator.spec.algorithms.continuous import OffPolicyOptions
from workers.algorithms.continuous.critics import Critics
from workers.algorithms.contract import Algorithm, Metrics, NetFactory
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.passes import AutogradPass, DirectPass, Pass
from workers.buffers.contract import Buffer, Draw
from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout
from workers.models.box_heads import SquashedHead
from workers.models.contract import encode, encoder_of, head_of
from workers.models.encoding import Observed
from workers.models.mlp import Mlp
from workers.models.normalised import Normalised

CRITICS = "critics"
"""The learner's critics."""

_DRAWN_AT_ONCE = 16
"""Minibatches that are read from the buffer in one go."""


@dataclass(slots=True, kw_only=True)
class Transitions:
    """One minibatch. Actions are in units in which the bounds are -1 and 1."""

    shown: Observed
    """Observations as the networks' layers see them: encoded, and normalised where the model says so."""
    actions: Tensor
    rewards: Tensor
    discounts: Tensor
    next_shown: Observed
    noise: Tensor
    """[2, rows, numbers], standard normal: for the actions at the observations, and for those at the next ones."""

    def part(self, start: int, end: int) -> Transitions:
        """The rows from `start` to `end`."""
        return Transitions(
            shown=_rows(self.shown, start, end),
            actions=self.actions[start:end],
            rewards=self.rewards[start:end],
            discounts=self.discounts[start:end],
            next_shown=_rows(self.next_shown, start, end),
            noise=self.noise[:, start:end],
        )


class OffPolicy(Algorithm):
    """A policy of Box actions and critics of them, trained on minibatches from replay."""

    options: OffPolicyOptions
    actions = (spaces.Box,)
    recurrent = False
    critics: ClassVar[int] = 2
    """How many critics there are; targets take the least of their values."""

    def check(self, spec: GameSpec) -> None:
        super().check(spec)
        if not all(np.isfinite(bound).all() for bound in ActionLayout(spec.action).bounds):
            raise BadAlgorithm("it learns Box actions with finite bounds only; ppo learns others with a gaussian head")

    def networks(self, spec: GameSpec, net: NetFactory) -> dict[str, nn.Module]:
        """The policy and its critics."""
        policy = net(POLICY, head="squashed")
        encoder = encoder_of(policy)
        seen = spec.observation if encoder is None else spaces.Box(-np.inf, np.inf, encoder.shape, np.float32)
        width = ActionLayout(spec.action).width
        judged = spaces.Dict({"obs": seen, "action": spaces.Box(-1.0, 1.0, (width,), np.float32)})
        members = [net(f"critic {number}", observation=judged, outputs=1) for number in range(self.critics)]
        return {POLICY: policy, CRITICS: Critics(members)}

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        rows = max(1, round(self.options.minibatch / self.processes))
        left = self.gradient_steps
        self.prepare(learner)
        while left:
            steps = min(left, _DRAWN_AT_ONCE)
            left -= steps
            drawn = buffer.draw(rows * steps, rng)
            if drawn is None:
                for _ in range(steps):
                    learner.skip()
                    yield {}
                continue
            batch = self._transitions(learner, drawn, rng)
            for number in range(steps):
                # reading a number waits for the device, so only the last step of an update is measured
                measure = not left and number == steps - 1
                metrics = self.step(learner, batch.part(number * rows, number * rows + rows), measure)
                yield {**metrics, "rows": float(rows)}

    @abstractmethod
    def prepare(self, learner: Learner) -> None:
        """Make what all gradient steps of an update use."""

    @abstractmethod
    def step(self, learner: Learner, batch: Transitions, measure: bool) -> Metrics:
        """One gradient step; returns its metrics if `measure`."""

    def _transitions(self, learner: Learner, drawn: Draw, rng: np.random.Generator) -> Transitions:
        columns = drawn.tensors(learner.device)
        units = squashed_head(learner.model).to_units(columns["action"])
        noise = rng.standard_normal((2, *units.shape), np.float32)
        return Transitions(
            shown=shown(learner.model, columns.obs),
            actions=units,
            rewards=columns["reward"],
            discounts=columns["discount"],
            next_shown=shown(learner.model, columns.next_obs),
            noise=learner.tensor(noise),
        )


def squashed_head(policy: nn.Module) -> SquashedHead:
    """The policy's head."""
    head = head_of(policy)
    assert isinstance(head, SquashedHead)
    return head


def shown(policy: nn.Module, observed: Any) -> Observed:
    """Observations as the policy's layers see them."""
    encoded: Any = encode(policy, observed)
    if isinstance(policy, Normalised):
        return policy.bound((encoded - policy.mean) / policy.spread)
    found: Observed = encoded
    return found


def policy_pass(learner: Learner, policy: nn.Module, outputs: int) -> Pass:
    """Passes of a policy over observations that are `shown` already; [1, rows, outputs]."""
    inner = policy.inner if isinstance(policy, Normalised) else policy
    if type(inner) is Mlp and not learner.autocasts:
        return DirectPass.of(inner, outputs)
    return AutogradPass(learner, lambda observed, _: inner(observed, None)[0].unsqueeze(0))


def _rows(observed: Observed, start: int, end: int) -> Observed:
    if isinstance(observed, dict):
        return {name: part[start:end] for name, part in observed.items()}
    return observed[start:end]
