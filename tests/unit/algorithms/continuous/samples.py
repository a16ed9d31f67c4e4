"""Learners of Box actions and minibatches for them, small and fixed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from orchestrator.catalog import Component
from workers.algorithms.building import build_learner
from workers.algorithms.continuous.off_policy import OffPolicy, Transitions, shown
from workers.algorithms.contract import make_algorithm
from workers.algorithms.learner import Learner
from workers.games.protocol import GameSpec

SPEC = GameSpec(
    id="arm",
    seats=1,
    observation_shape=(3,),
    action=spaces.Box(np.array([-2.0, 0.0], np.float32), np.array([2.0, 4.0], np.float32)),
    max_steps=10,
)
MLP = Component(id="mlp", options={"hidden": [16, 8]})
PARTS = [
    MLP,
    Component(id="mlp", options={"hidden": [16, 8], "activation": "tanh"}),
    Component(id="mlp", options={"hidden": [8], "normalise": True}),
    Component(id="tests.unit.algorithms.continuous.samples:Plain"),
]
"""Models that are differentiated by hand, and one by autograd."""


class Plain(nn.Module):
    """A user's model, of the short form."""

    def __init__(self, *, observation_shape: tuple[int, ...], actions: int) -> None:
        super().__init__()
        self.body = nn.Linear(int(np.prod(observation_shape)), 8)
        self.heads = nn.Linear(8, actions + 1)
        self.actions = actions

    def forward(self, observations: Tensor, legal: Tensor | None) -> tuple[Tensor, Tensor]:
        out = self.heads(torch.tanh(self.body(observations.flatten(1))))
        return out[:, : self.actions], out[:, self.actions]


def made(name: str, model: Component = MLP, **options: Any) -> tuple[OffPolicy, Learner]:
    """The algorithm and its learner; the lagged networks differ from the others."""
    algorithm = make_algorithm(Component(id=name, options=options))
    assert isinstance(algorithm, OffPolicy)
    learner = build_learner(algorithm, model, SPEC, 1)
    torch.manual_seed(5)
    with torch.no_grad():
        for net in learner.all_nets().values():
            for parameter in net.parameters():
                parameter.add_(0.3 * torch.randn_like(parameter))
    return algorithm, learner


def minibatch(learner: Learner, rows: int = 7) -> Transitions:
    """A fixed minibatch with an end of a game."""
    rng = np.random.default_rng(2)
    observed = torch.from_numpy(rng.standard_normal((2, rows, 3), np.float32))
    discounts = torch.full((rows,), 0.9)
    discounts[2] = 0.0
    return Transitions(
        shown=shown(learner.model, observed[0]),
        actions=torch.from_numpy(rng.uniform(-1, 1, (rows, 2)).astype(np.float32)),
        rewards=torch.from_numpy(rng.standard_normal(rows, np.float32)),
        discounts=discounts,
        next_shown=shown(learner.model, observed[1]),
        noise=torch.from_numpy(rng.standard_normal((2, rows, 2), np.float32)),
    )


def critic_values(net: nn.Module, seen: Any, actions: Tensor) -> Tensor:
    """[critics, rows]."""
    values: Tensor = net(seen, actions).squeeze(2)
    return values


def policy_outputs(policy: nn.Module, seen: Any) -> Tensor:
    """What the policy's head takes, from observations that are `shown` already."""
    inner = getattr(policy, "inner", policy)
    outputs: Tensor = inner(seen, None)[0]
    return outputs


def gradients_of(learner: Learner, loss: Tensor, nets: list[str]) -> dict[str, Tensor]:
    """Autograd's gradients of a loss at the parameters of these networks, by name."""
    named = {f"{net}/{name}": p for net in nets for name, p in learner.nets[net].named_parameters()}
    found = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    return {
        name: torch.zeros_like(parameter) if gradient is None else gradient
        for (name, parameter), gradient in zip(named.items(), found, strict=True)
    }


def taken_gradients(algorithm: OffPolicy, learner: Learner, batch: Transitions) -> dict[str, Tensor]:
    """The gradients that one step of the algorithm applies, by name, of all optimisers that it steps."""
    seen: dict[str, Tensor] = {}
    for optimiser in learner.optimisers.values():
        optimiser.learning_rate = 0.0

    def keep(name: str = "policy", reduced_scalar: float = 0.0) -> float:
        for net in learner._owners[name]:
            for parameter_name, parameter in learner.nets[net].named_parameters():
                assert parameter.grad is not None
                seen[f"{net}/{parameter_name}"] = parameter.grad.clone()
        return Learner.step(learner, name, reduced_scalar)

    learner.step = keep  # type: ignore[method-assign]
    algorithm.prepare(learner)
    algorithm.step(learner, batch, True)
    return seen
