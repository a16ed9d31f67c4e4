"""Decisions: sampled as the logits say, never illegal, the same alone, grouped and cached."""

import math
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import nn

from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from workers.checkpoints import Checkpoint, CheckpointMismatch, save
from workers.games.builtin.connect_four import ConnectFour
from workers.inference.cache import PolicyCache
from workers.inference.greedy import EpsilonGreedy
from workers.inference.grouped import PerceptronGroup, architecture, group
from workers.inference.policy import Policy, choose
from workers.models.contract import build_model, mask_logits
from workers.models.gru import GruNet
from workers.models.mlp import Mlp
from workers.models.normalised import Normalised

SPEC = ConnectFour(tables=1).spec


def rows(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    legal = rng.random((count, 7)) < 0.5
    legal[:, 3] = True
    return rng.random((count, 2, 6, 7), np.float32), legal, rng.random(count, np.float32)


def policy(seed: int, hidden: tuple[int, ...] = (16,)) -> Policy:
    model = build_model(Component(id="mlp", options={"hidden": hidden}), SPEC, seed)
    with torch.no_grad():
        model.heads.weight *= 30.0  # type: ignore[union-attr,operator]
    return Policy(model)


def test_actions_come_as_often_as_their_probability() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0, -1.0]]).repeat(200_000, 1)
    actions, log_probs = choose(logits, np.random.default_rng(0).random(200_000, np.float32))
    expected = torch.softmax(logits[0], 0)
    shares = torch.bincount(actions, minlength=4) / len(actions)
    torch.testing.assert_close(shares, expected, atol=0.005, rtol=0.0)
    torch.testing.assert_close(log_probs, expected.log()[actions])


@pytest.mark.parametrize("draw", [0.0, 0.5, float(np.nextafter(np.float32(1), np.float32(0)))])
def test_no_draw_reaches_a_forbidden_action(draw: float) -> None:
    legal = torch.tensor([[False, True, True, False], [False, False, True, False], [True, False, False, False]])
    logits = mask_logits(torch.zeros(3, 4), legal)
    actions, _ = choose(logits, np.full(3, draw, np.float32))
    assert bool(legal.gather(1, actions.unsqueeze(1)).all())


def test_without_draws_the_best_action_is_taken() -> None:
    observations, legal, _ = rows(20)
    chosen = policy(1).decide(observations, legal, None).actions
    logits, _ = policy(1).model(torch.from_numpy(observations), torch.from_numpy(legal))
    np.testing.assert_array_equal(chosen, logits.argmax(1).numpy())


MODELS = {
    "perceptron": Component(id="mlp", options={"hidden": [16]}),
    "normalised perceptron": Component(id="mlp", options={"hidden": [16], "normalise": True}),
    "convolutional": Component(id="conv", options={"channels": 4, "blocks": 1, "hidden": 8}),
    "residual": Component(id="convres", options={"channels": 4, "blocks": 1, "narrow": 2, "hidden": 8}),
    "normalised convolutional": Component(
        id="conv", options={"channels": 4, "blocks": 1, "hidden": 8, "normalise": True}
    ),
    "recurrent": Component(id="gru", options={"hidden": 8, "state": 8}),
    "lstm": Component(id="tests.unit.training.models.test_policies:Lstm"),
    "not for vmap": Component(id="tests.unit.training.models.test_policies:Counting"),
}


class Lstm(nn.Module):
    """A recurrent model with a nested state."""

    state_shapes: ClassVar = {"lstm": ((4,), (4,))}

    def __init__(self, observation_shape: tuple[int, ...], actions: int) -> None:
        super().__init__()
        self.cell, self.heads = nn.LSTMCell(math.prod(observation_shape), 4), nn.Linear(4, actions + 1)

    def forward(self, observations: torch.Tensor, legal: torch.Tensor, state: Any) -> Any:
        hidden, cell = self.cell(observations.flatten(1), state["lstm"])
        out = self.heads(hidden)
        return mask_logits(out[:, :-1], legal), out[:, -1], {"lstm": (hidden, cell)}


class Counting(Mlp):
    """A model with control flow that depends on its data, which vmap refuses."""

    def forward(self, observations: torch.Tensor, legal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits, values = super().forward(observations, legal)
        return logits, values + 1.0 if float(observations.sum()) > 0 else values


def member(component: Component, seed: int) -> Policy:
    """A policy with weights and moments of its own."""
    model = build_model(component, SPEC, seed)
    if isinstance(model, Normalised):
        rng = torch.Generator().manual_seed(seed)
        model.absorb(model.moments(torch.rand(50, *SPEC.observation_shape, generator=rng) * 3 - 1), 50)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "heads.weight" in name:
                parameter *= 30.0
    return Policy(model, component)


@pytest.mark.parametrize("component", MODELS.values(), ids=MODELS)
def test_a_group_decides_as_its_members_do(component: Component) -> None:
    members = [member(component, seed) for seed in range(5)]
    together = group(members)
    for seed in (0, 1):
        observations, legal, draws = rows(40, seed)
        states = np.random.default_rng(seed).random((40, 8), np.float32) if together.state_size else None
        decided = together.decide(observations, legal, draws, states)
        for number, one in enumerate(members):
            part = slice(number * 8, number * 8 + 8)
            before = None if states is None else states[part]
            alone = one.decide(observations[part], legal[part], draws[part], before)
            np.testing.assert_array_equal(decided.actions[part], alone.actions)
            np.testing.assert_allclose(decided.log_probs[part], alone.log_probs, atol=1e-3)
            np.testing.assert_allclose(decided.values[part], alone.values, atol=1e-3)
            if decided.states is not None and alone.states is not None:
                np.testing.assert_allclose(decided.states[part], alone.states, atol=1e-4)
    assert getattr(together, "_works", True) is (component.id != MODELS["not for vmap"].id)
    greedy = together.decide(observations, legal, None, states).actions
    before = None if states is None else states[:8]
    np.testing.assert_array_equal(greedy[:8], members[0].decide(observations[:8], legal[:8], None, before).actions)


def test_a_group_of_players_that_take_the_best_action_does_so() -> None:
    members = [EpsilonGreedy(policy(seed).model) for seed in range(5)]
    observations, legal, draws = rows(40)
    decided = group(members).decide(observations, legal, draws).actions
    alone = [
        one.decide(observations[i * 8 : i * 8 + 8], legal[i * 8 : i * 8 + 8], None) for i, one in enumerate(members)
    ]
    np.testing.assert_array_equal(decided, np.concatenate([one.actions for one in alone]))


def test_only_policies_of_one_architecture_form_a_group() -> None:
    conv = MODELS["convolutional"]
    wider = Component(id="conv", options={**conv.options, "channels": 6})
    gru = Policy(GruNet(observation_shape=SPEC.observation_shape, actions=7))
    tanh = Policy(Mlp(observation_shape=SPEC.observation_shape, actions=7, hidden=[16], activation="tanh"))
    normalised = member(MODELS["normalised perceptron"], 1)
    for one, odd in (
        (policy(0), policy(1, hidden=(8,))),
        (policy(0), gru),
        (policy(0), tanh),
        (policy(0), normalised),
        (member(conv, 0), member(wider, 0)),
        (policy(0), EpsilonGreedy(policy(1).model)),
        (gru, gru),
    ):
        with pytest.raises(ValueError, match="one architecture"):
            group([one, odd])
    assert architecture(gru) is None, "nothing says what made it"
    with pytest.raises(ValueError, match="one architecture"):
        group([])


def stored(store: ArtifactStore, seed: int, hidden: tuple[int, ...] = (16,)) -> Checkpoint:
    model = Component(id="mlp", options={"hidden": list(hidden)})
    return Checkpoint(
        model=model, game=Component(id="connect_four"), weights=build_model(model, SPEC, seed).state_dict()
    )


def test_the_cache_keeps_the_last_used_within_its_bytes(tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path))
    refs = [save(store, stored(store, seed)) for seed in range(4)]
    size = Policy.from_checkpoint(stored(store, 0), SPEC).size
    cache = PolicyCache(store, SPEC, max_bytes=2 * size)
    first = cache.get(refs[0])
    cache.get(refs[1])
    assert cache.get(refs[0]) is first
    cache.get(refs[2])  # pushes out the second, which was used longest ago
    assert cache.get(refs[0]) is first
    assert (len(cache), cache.loads) == (2, 3)
    cache.get(refs[1])
    assert cache.loads == 4


def test_the_cache_keeps_no_more_policies_than_can_be_of_use(tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path))
    refs = [save(store, stored(store, seed)) for seed in range(3)]
    cache = PolicyCache(store, SPEC, max_policies=2)
    for ref in refs:
        cache.get(ref)
    cache.get(refs[1])
    assert (len(cache), cache.loads) == (2, 3), "the two used last, though many more would fit into the bytes"


def test_a_policy_larger_than_the_cache_still_plays(tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path))
    cache = PolicyCache(store, SPEC, max_bytes=1)
    refs = [save(store, stored(store, seed)) for seed in range(2)]
    observations, legal, _ = rows(3)
    for ref in refs:
        assert len(cache.get(ref).decide(observations, legal, None).actions) == 3
    assert len(cache) == 1


def test_weights_of_another_model_are_refused() -> None:
    small, large = (build_model(Component(id="mlp", options={"hidden": [n]}), SPEC) for n in (8, 16))
    mixed = Checkpoint(
        model=Component(id="mlp", options={"hidden": [16]}),
        game=Component(id="connect_four"),
        weights=small.state_dict(),
    )
    assert large.state_dict().keys() == small.state_dict().keys()
    with pytest.raises(CheckpointMismatch):
        Policy.from_checkpoint(mixed, SPEC)


def test_a_group_of_perceptrons_decides_only_the_rows_asked_for() -> None:
    together = group([policy(seed) for seed in range(5)])
    assert isinstance(together, PerceptronGroup)
    observations, legal, draws = rows(40)
    wanted = np.array([3, 8, 9, 39])
    every = together.decide(observations, legal, draws)
    some = together.decide(observations, legal[wanted], draws[wanted], only=wanted)
    np.testing.assert_array_equal(some.actions, every.actions[wanted])
    np.testing.assert_array_equal(some.values, every.values[wanted])
