"""DDPG and TD3: their gradients against autograd on the losses as the papers write them, and how they explore."""

import numpy as np
import pytest
import torch
from torch import Tensor

from orchestrator.catalog import Component
from tests.unit.algorithms.continuous.samples import (
    PARTS,
    SPEC,
    critic_values,
    gradients_of,
    made,
    minibatch,
    policy_outputs,
    taken_gradients,
)
from workers.algorithms.continuous.off_policy import Transitions
from workers.algorithms.learner import Learner
from workers.games.spaces import ActionLayout
from workers.inference.bounded import NOISE


def reference(learner: Learner, batch: Transitions, smoothing: float, limit: float) -> dict[str, Tensor]:
    with torch.no_grad():
        ahead = policy_outputs(learner.lagged("policy"), batch.next_shown)[:, :2].tanh()
        ahead = (ahead + (smoothing * batch.noise[1]).clamp(-limit, limit)).clamp(-1, 1)
        later = critic_values(learner.lagged("critics"), batch.next_shown, ahead).min(0).values
        targets = batch.rewards + batch.discounts * later
    errors = critic_values(learner.nets["critics"], batch.shown, batch.actions) - targets
    actions = policy_outputs(learner.model, batch.shown)[:, :2].tanh()
    climbed = critic_values(learner.nets["critics"], batch.shown, actions)[0]
    return {
        **gradients_of(learner, errors.square().mean(1).sum(), ["critics"]),
        **gradients_of(learner, -climbed.mean(), ["policy"]),
    }


@pytest.mark.parametrize("model", PARTS, ids=str)
@pytest.mark.parametrize(
    ("name", "options", "smoothing", "limit", "critics"),
    [("ddpg", {}, 0.0, 0.0, 1), ("td3", {"policy_delay": 1, "target_noise": 0.8}, 0.8, 0.5, 2)],
    ids=["ddpg", "td3"],
)
def test_a_step_takes_the_gradients_of_the_papers_losses(
    model: Component, name: str, options: dict[str, float], smoothing: float, limit: float, critics: int
) -> None:
    algorithm, learner = made(name, model, **options)
    batch = minibatch(learner)
    assert len(critic_values(learner.nets["critics"], batch.shown, batch.actions)) == critics
    wanted = reference(learner, batch, smoothing, limit)
    found = taken_gradients(algorithm, learner, batch)
    assert found.keys() == wanted.keys()
    for key, gradient in wanted.items():
        torch.testing.assert_close(found[key], gradient, atol=2e-6, rtol=2e-4, msg=lambda m, n=key: f"{n}: {m}")


def test_the_policy_and_the_lagged_networks_step_more_rarely() -> None:
    algorithm, learner = made("td3", policy_delay=3, target_rate=0.5)
    batch = minibatch(learner)
    kept = {name: [p.clone() for p in net.parameters()] for name, net in learner.all_nets().items()}

    def moved() -> set[str]:
        return {
            name
            for name, net in learner.all_nets().items()
            if any(not torch.equal(a, b) for a, b in zip(kept[name], net.parameters(), strict=True))
        }

    algorithm.prepare(learner)
    for _ in range(2):
        algorithm.step(learner, batch, False)
    assert moved() == {"critics"}
    algorithm.step(learner, batch, False)
    assert moved() == {"critics", "policy", "lagged/critics", "lagged/policy"}


def rows(count: int) -> dict[str, np.ndarray]:
    return {"obs": np.random.default_rng(1).standard_normal((count, 3), np.float32)}


def test_gaussian_noise_lies_on_top_of_the_best_action_and_within_the_bounds() -> None:
    algorithm, learner = made("td3")
    actor = algorithm.actor(learner.all_nets())
    draws = np.random.default_rng(3).random((4000, 2), dtype=np.float32)
    shown = {"obs": np.repeat(rows(1)["obs"], 4000, 0)}
    best = actor.act(shown, None)["action"]
    assert np.array_equal(best, actor.act(shown, draws, 0.0)["action"])
    noisy = actor.act(shown, draws, 0.01)["action"]
    assert noisy.dtype == np.float32
    np.testing.assert_allclose((noisy - best).std(0), [0.02, 0.02], rtol=0.1)  # half the range is 2
    low, high = ActionLayout(SPEC.action).bounds
    wild = actor.act(shown, draws, 5.0)["action"]
    assert (wild >= low).all() and (wild <= high).all() and (wild == high).any()


def test_ornstein_uhlenbeck_noise_remembers() -> None:
    algorithm, learner = made("ddpg", noise="ornstein_uhlenbeck")
    actor = algorithm.actor(learner.all_nets())
    assert dict(actor.state_shapes) == {NOISE: (2,)}
    draws = np.full((4, 2), 0.5, np.float32)  # the middle: nothing is added, so the noise decays
    before = np.full((4, 2), 0.1, np.float32)
    after = actor.act({**rows(4), NOISE: before}, draws, 0.2)
    np.testing.assert_allclose(after[NOISE], 0.85 * before, atol=1e-6)
    best = actor.act({**rows(4), NOISE: before}, None)
    low, high = ActionLayout(SPEC.action).bounds
    np.testing.assert_allclose(after["action"], np.clip(best["action"] + 2 * after[NOISE], low, high), atol=1e-6)


def test_actions_are_wild_until_the_buffer_is_warm() -> None:
    algorithm, _ = made("td3", warm_up=100, noise_scale=0.1)
    assert (algorithm.explore(99), algorithm.explore(100)) == (1.0, 0.1)
