"""Decisions: sampled as the logits say, never illegal, the same alone, grouped and cached."""

from pathlib import Path

import numpy as np
import pytest
import torch

from orchestrator.artifacts import ArtifactStore
from orchestrator.catalog import Component
from workers.checkpoints import Checkpoint, CheckpointMismatch, save
from workers.games.connect_four import ConnectFour
from workers.inference.cache import PolicyCache
from workers.inference.grouped import PolicyGroup, groupable
from workers.inference.policy import Policy, choose
from workers.models.contract import build_model, mask_logits
from workers.models.gru import GruNet
from workers.models.mlp import Mlp

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


def test_a_group_decides_as_its_members_do() -> None:
    members = [policy(seed) for seed in range(5)]
    observations, legal, draws = rows(40)
    together = PolicyGroup(members).decide(observations, legal, draws)
    for number, member in enumerate(members):
        part = slice(number * 8, number * 8 + 8)
        alone = member.decide(observations[part], legal[part], draws[part])
        np.testing.assert_array_equal(together.actions[part], alone.actions)
        np.testing.assert_allclose(together.log_probs[part], alone.log_probs, atol=1e-4)
        np.testing.assert_allclose(together.values[part], alone.values, atol=1e-4)
    greedy = PolicyGroup(members).decide(observations, legal, None).actions
    np.testing.assert_array_equal(greedy[:8], members[0].decide(observations[:8], legal[:8], None).actions)


def test_only_perceptrons_of_one_shape_form_a_group() -> None:
    other = Policy(GruNet(observation_shape=SPEC.observation_shape, actions=7))
    tanh = Policy(Mlp(observation_shape=SPEC.observation_shape, actions=7, hidden=[16], activation="tanh"))
    for odd in (policy(1, hidden=(8,)), other, tanh):
        assert not groupable([policy(0), odd])
        with pytest.raises(ValueError, match="one shape"):
            PolicyGroup([policy(0), odd])
    assert groupable([policy(0), policy(1)])
    assert not groupable([])


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
