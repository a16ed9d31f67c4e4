"""A gradient step of each actor-critic algorithm is that of its written loss, for every kind of action."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.distributions import Categorical, Distribution, Independent, Normal, kl_divergence

from orchestrator.catalog import Component
from tests.unit.training.samples import random_batch, updated
from workers.algorithms.building import build_learner
from workers.algorithms.contract import Algorithm, make_algorithm
from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.targets.gae import gae
from workers.algorithms.targets.td_lambda import td_lambda
from workers.algorithms.targets.upgo import upgo
from workers.algorithms.targets.vtrace import vtrace
from workers.games.protocol import GameSpec
from workers.models.contract import head_of
from workers.rollout.batch import Experience

ACTIONS: dict[str, spaces.Space[object]] = {
    "discrete": spaces.Discrete(5),
    "multi-discrete": spaces.MultiDiscrete([2, 3]),
    "continuous": spaces.Box(-1.0, 1.0, (2,)),
}
STATIC = {"learning_rate": 0.01, "gradient_clip": 0.0, "minibatch": 1000, "gamma": 0.9, "entropy": 0.1}
ALGORITHMS: dict[str, dict[str, object]] = {
    "a2c": {},
    "a2c-normalised": {"normalise_advantages": True},
    "ppo": {"epochs": 1, "upgo": 0.5},
    "impala": {},
    "vtrace": {"upgo": 0.5, "rho_clip": 2.0},
    "upgo": {},
    "mmd": {"epochs": 1, "anneal_steps": 0, "normalise_advantages": True},
}


@dataclass
class Written:
    """What the written losses are made of: the policy by torch's distributions, on the rows that are trained on."""

    options: dict[str, float]
    batch: Experience
    present: Experience
    log_probs: Tensor
    ratio: Tensor
    values: Tensor
    policy: Distribution

    def rows(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(array[self.batch.trainable])

    def value_loss(self, returns: np.ndarray) -> Tensor:
        wanted = self.rows(returns)
        spread = wanted.std(unbiased=False).clamp(min=1.0)
        return 0.5 * self.options["value_weight"] * ((self.values - wanted) / spread).square().mean()

    def clipped_value_loss(self, returns: np.ndarray) -> Tensor:
        wanted, old = self.rows(returns), self.rows(self.batch.values)
        spread = wanted.std(unbiased=False).clamp(min=1.0)
        bound = self.options["value_clip"] * spread
        near = old + (self.values - old).clamp(-bound, bound)
        worse = torch.maximum((self.values - wanted) ** 2, (near - wanted) ** 2)
        return 0.5 * self.options["value_weight"] * worse.mean() / spread**2

    def normal(self, advantages: np.ndarray) -> Tensor:
        found = self.rows(advantages)
        return (found - found.mean()) / (found.std(unbiased=False) + 1e-8)


def a2c(it: Written) -> Tensor:
    targets = gae(it.batch, it.options["gamma"], it.options["gae_lambda"])
    advantages = it.normal(targets.advantages) if it.options["normalise_advantages"] else it.rows(targets.advantages)
    return -(advantages * it.log_probs).mean() + it.value_loss(targets.returns)


def ppo(it: Written) -> Tensor:
    targets = gae(it.batch, it.options["gamma"], it.options["gae_lambda"])
    advantages = it.normal(targets.advantages + it.options["upgo"] * upgo(it.batch, it.options["gamma"]))
    clipped = it.ratio.clamp(1 - it.options["clip"], 1 + it.options["clip"])
    return -torch.minimum(it.ratio * advantages, clipped * advantages).mean() + it.clipped_value_loss(targets.returns)


def mmd(it: Written) -> Tensor:
    """The divergence from the present policy has gradient 0 at the first step."""
    targets = gae(it.batch, it.options["gamma"], it.options["gae_lambda"])
    return -(it.ratio * it.normal(targets.advantages)).mean() + it.value_loss(targets.returns)


def v_trace(it: Written) -> Tensor:
    options = it.options
    targets = vtrace(
        it.batch,
        it.present,
        gamma=options["gamma"],
        lam=options["trace_lambda"],
        rho_clip=options["rho_clip"],
        trace_clip=options["trace_clip"],
    )
    rho = np.minimum(np.exp(it.present.log_probs - it.batch.log_probs), options["rho_clip"])
    upgoing = options["upgo"] * rho * upgo(it.batch, options["gamma"], it.present.values)
    returns = targets.returns
    if "value_lambda" in options:
        returns = td_lambda(it.batch, options["gamma"], options["value_lambda"], it.present.values)
    return -(it.rows(targets.advantages + upgoing) * it.log_probs).mean() + it.value_loss(returns)


LOSSES: dict[str, Callable[[Written], Tensor]] = {
    "a2c": a2c,
    "a2c-normalised": a2c,
    "ppo": ppo,
    "mmd": mmd,
    "impala": v_trace,
    "vtrace": v_trace,
    "upgo": v_trace,
}


def of(outputs: Tensor, space: spaces.Space[object]) -> list[Distribution]:
    """The policy of these outputs as torch has it, one distribution for each independent number or group."""
    if isinstance(space, spaces.Discrete):
        return [Categorical(logits=outputs)]
    if isinstance(space, spaces.MultiDiscrete):
        return [Categorical(logits=part) for part in torch.split(outputs, space.nvec.tolist(), 1)]
    mean, log_std = outputs.chunk(2, 1)
    return [Independent(Normal(mean, log_std.clamp(-5.0, 2.0).exp()), 1)]


def log_prob(policy: list[Distribution], actions: Tensor, space: spaces.Space[object]) -> Tensor:
    parts = [actions[:, number] for number in range(len(policy))] if len(policy) > 1 else [actions]
    return torch.stack([each.log_prob(part) for each, part in zip(policy, parts, strict=True)]).sum(0)


def batch_of(space: spaces.Space[object], model: nn.Module) -> Experience:
    """Random experience with actions of this space, played by a policy that is near the present one."""
    batch = random_batch()
    space.seed(1)
    columns = dict(batch.columns)
    if not isinstance(space, spaces.Discrete):
        columns["action"] = np.stack([space.sample() for _ in range(len(batch))])
        del columns["legal"]
    legal = columns.get("legal")
    with torch.no_grad():
        outputs, values = model(torch.from_numpy(columns["obs"]), None if legal is None else torch.from_numpy(legal))
    head = head_of(model)
    assert head is not None
    rng = np.random.default_rng(2)
    taken = head.log_prob(outputs, torch.from_numpy(columns["action"])).numpy()
    columns["log_prob"] = (taken + 0.3 * rng.standard_normal(len(batch))).astype(np.float32)
    columns["value"] = (values.numpy() + 0.3 * rng.standard_normal(len(batch))).astype(np.float32)
    return batch.__class__(**{**vars(batch), "columns": columns})


def made(name: str, space: spaces.Space[object], anchor: str) -> tuple[Algorithm, Learner]:
    options = {**STATIC, **ALGORITHMS[name], "anchor": anchor, "anchor_weight": 0.7}
    algorithm = make_algorithm(Component(id=name.partition("-")[0], options=options), 48)
    spec = GameSpec(id="made-up", seats=1, observation_shape=(6,), action=space, max_steps=9)
    learner = build_learner(algorithm, Component(id="mlp", options={"hidden": [8, 7]}), spec, 3)
    with torch.no_grad():
        learner.model.heads.weight *= 30.0  # far enough from uniform that the clip bites
    return algorithm, learner


@pytest.mark.parametrize("anchor", ["none", "initial"])
@pytest.mark.parametrize("kind", ACTIONS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_step_is_that_of_the_written_loss(name: str, kind: str, anchor: str) -> None:
    space = ACTIONS[kind]
    algorithm, learner = made(name, space, anchor)
    _, reference = made(name, space, "none")
    batch = batch_of(space, learner.model)
    if anchor == "initial":
        with torch.no_grad():
            for parameter in learner.lagged().parameters():
                parameter.add_(0.1)
    rows = torch.from_numpy(batch.trainable)
    legal = batch.columns.get("legal")
    shown = (torch.from_numpy(batch.observations), None if legal is None else torch.from_numpy(legal))
    outputs, values = reference.model(*shown)
    actions = torch.from_numpy(batch.actions)
    everything = log_prob(of(outputs, space), actions, space).detach().numpy()
    present = batch.with_columns(
        {
            "log_prob": np.where(np.isin(np.arange(len(batch)), rows), everything, batch.log_probs),
            "value": np.where(np.isin(np.arange(len(batch)), rows), values.detach().numpy(), batch.values),
        }
    )
    policy = of(outputs[rows], space)
    taken = log_prob(policy, actions[rows], space)
    ratio = (taken - torch.from_numpy(batch.log_probs)[rows]).exp()
    it = Written(algorithm.options.model_dump(), batch, present, taken, ratio, values[rows], policy[0])
    loss = LOSSES[name](it) - STATIC["entropy"] * torch.stack([each.entropy() for each in policy]).sum(0).mean()
    if anchor == "initial":
        with torch.no_grad():
            there = of(learner.lagged()(*shown)[0][rows], space)
        loss = loss + 0.7 * sum(kl_divergence(a, b) for a, b in zip(policy, there, strict=True)).mean()
    loss.backward()
    expected = torch.cat([p.grad.reshape(-1) for p in reference.model.parameters() if p.grad is not None])
    metrics = updated(algorithm, learner, batch)
    gradient = learner.optimisers[POLICY].gradient
    torch.testing.assert_close(gradient, expected, atol=2e-5, rtol=1e-3)
    assert ("anchor_kl" in metrics) == (anchor == "initial")
