"""Soft actor-critic: its gradients against autograd on the losses as the paper writes them."""

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Independent, Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform

from orchestrator.catalog import Component
from tests.unit.algorithms.continuous.samples import (
    PARTS,
    critic_values,
    gradients_of,
    made,
    minibatch,
    policy_outputs,
    taken_gradients,
)
from workers.algorithms.continuous.off_policy import Transitions
from workers.algorithms.learner import Learner


def drawn(learner: Learner, seen: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Actions of the policy and their log-densities, by torch's distributions."""
    mean, log_std = policy_outputs(learner.model, seen).chunk(2, 1)
    std = log_std.clamp(-5, 2).exp()
    gaussian = Normal(mean, std)
    squashed = Independent(TransformedDistribution(gaussian, [TanhTransform(cache_size=1)]), 1)
    before = mean + std * noise
    actions = squashed.base_dist.transforms[0](before)
    return actions, squashed.log_prob(actions)


def reference(learner: Learner, batch: Transitions, target_entropy: float) -> dict[str, Tensor]:
    log_alpha = learner.nets["temperature"].log
    alpha = log_alpha.exp().detach()
    with torch.no_grad():
        ahead, ahead_log_probs = drawn(learner, batch.next_shown, batch.noise[1])
        later = critic_values(learner.lagged("critics"), batch.next_shown, ahead).min(0).values
        targets = batch.rewards + batch.discounts * (later - alpha * ahead_log_probs)
    errors = critic_values(learner.nets["critics"], batch.shown, batch.actions) - targets
    critic_loss = (0.5 * errors.square()).mean(1).sum()
    actions, log_probs = drawn(learner, batch.shown, batch.noise[0])
    least = critic_values(learner.nets["critics"], batch.shown, actions).min(0).values
    policy_loss = (alpha * log_probs - least).mean()
    temperature_loss = -(log_alpha * (log_probs.detach() + target_entropy)).mean()
    return {
        **gradients_of(learner, critic_loss, ["critics"]),
        **gradients_of(learner, policy_loss, ["policy"]),
        **gradients_of(learner, temperature_loss, ["temperature"]),
    }


@pytest.mark.parametrize("model", PARTS, ids=str)
def test_a_step_takes_the_gradients_of_the_papers_losses(model: Component) -> None:
    algorithm, learner = made("sac", model, temperature=0.3)
    batch = minibatch(learner)
    wanted = reference(learner, batch, target_entropy=-2.0)
    found = taken_gradients(algorithm, learner, batch)
    assert found.keys() == wanted.keys()
    for name, gradient in wanted.items():
        torch.testing.assert_close(found[name], gradient, atol=2e-6, rtol=2e-4, msg=lambda m, n=name: f"{n}: {m}")


def test_a_deviation_at_its_bound_has_no_gradient() -> None:
    algorithm, learner = made("sac")
    with torch.no_grad():
        learner.model.get_parameter("heads.bias")[2] = 50.0
    found = taken_gradients(algorithm, learner, minibatch(learner))["policy/heads.bias"]
    assert found[2] == 0.0 and found[3] != 0.0 and found[4] == 0.0, "nor has the value, which nobody trains"


def test_the_temperature_follows_the_entropy() -> None:
    for target, sign in ((-50.0, -1), (50.0, 1)):
        algorithm, learner = made("sac", target_entropy=target, learning_rate=0.1)
        before = learner.nets["temperature"].log.item()
        algorithm.prepare(learner)
        algorithm.step(learner, minibatch(learner), False)
        assert math.copysign(1, learner.nets["temperature"].log.item() - before) == sign


def test_a_fixed_temperature_is_no_network() -> None:
    algorithm, learner = made("sac", temperature=0.2, learn_temperature=False)
    assert sorted(learner.nets) == ["critics", "policy"]
    algorithm.prepare(learner)
    assert algorithm.step(learner, minibatch(learner), True)["temperature"] == 0.2
