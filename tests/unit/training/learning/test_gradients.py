"""The gradients written in closed form equal those of autograd on the written-out losses."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from orchestrator.spec.algorithms.actor_critic import PpoOptions, VtraceOptions
from tests.unit.training.samples import learner_of, random_batch, updated
from workers.algorithms.actor_critic.ppo import Ppo
from workers.algorithms.actor_critic.vtrace import Vtrace
from workers.algorithms.evaluation import (
    AutogradBatchPass,
    BatchPass,
    CastBatchPass,
    DirectBatchPass,
    RecurrentBatchPass,
    evaluate,
)
from workers.algorithms.heads import policy_terms
from workers.algorithms.learner import POLICY
from workers.algorithms.targets.gae import gae
from workers.algorithms.targets.vtrace import vtrace
from workers.models.gru import GruNet
from workers.models.mlp import Mlp
from workers.rollout.batch import PENDING


def ppo_loss(model: nn.Module, options: PpoOptions) -> torch.Tensor:
    """PPO's loss over all trainable rows of the random batch, as the papers write it."""
    batch = random_batch()
    rows = torch.from_numpy(batch.trainable)
    targets = gae(batch, options.gamma, options.gae_lambda)
    advantages = torch.from_numpy(targets.advantages)[rows]
    advantages = (advantages - advantages.mean()) / (advantages.std(unbiased=False) + 1e-8)
    returns, old = torch.from_numpy(targets.returns)[rows], torch.from_numpy(batch.values)[rows]
    logits, values = model(torch.from_numpy(batch.observations)[rows], torch.from_numpy(batch.legal)[rows])
    chances = torch.distributions.Categorical(logits=logits)
    ratio = (chances.log_prob(torch.from_numpy(batch.actions)[rows]) - torch.from_numpy(batch.log_probs)[rows]).exp()
    clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
    policy = -torch.minimum(ratio * advantages, clipped * advantages).mean()
    spread = returns.std(unbiased=False).clamp(min=1.0)
    assert spread > 1.0
    near = old + (values - old).clamp(-options.value_clip * spread, options.value_clip * spread)
    value = 0.5 * torch.maximum((values - returns) ** 2, (near - returns) ** 2).mean() / spread**2
    return policy + options.value_weight * value - options.entropy * chances.entropy().mean()


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_ppo_takes_the_step_of_its_loss(activation: str) -> None:
    options = PpoOptions(epochs=1, gradient_clip=0.0, learning_rate=0.01, entropy=0.1, minibatch=1000)
    torch.manual_seed(1)
    model = Mlp(observation_shape=(6,), actions=5, hidden=[8, 7], activation=activation)
    with torch.no_grad():
        model.heads.weight *= 50.0  # far enough from uniform that both clips bite
    reference = Mlp(observation_shape=(6,), actions=5, hidden=[8, 7], activation=activation)
    reference.load_state_dict(model.state_dict())
    adam = torch.optim.Adam(reference.parameters(), lr=0.01, eps=1e-5)
    ppo_loss(reference, options).backward()
    adam.step()
    learner = learner_of(model, options)
    metrics = updated(Ppo(options, 48), learner, random_batch())
    assert 0.0 < metrics["clip_fraction"] < 1.0
    expected = torch.cat([p.grad.reshape(-1) for p in reference.parameters() if p.grad is not None])
    torch.testing.assert_close(learner.optimisers[POLICY].gradient, expected, atol=1e-6, rtol=1e-4)
    for name, tensor in reference.state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], tensor, atol=1e-5, rtol=1e-4)


def test_direct_and_recorded_gradients_agree() -> None:
    batch = random_batch()
    gradients = []
    for kind in (DirectBatchPass, AutogradBatchPass):
        torch.manual_seed(2)
        learner = learner_of(Mlp(observation_shape=(6,), actions=5, hidden=[8, 7]), PpoOptions())
        evaluation = kind(learner, batch)
        logits, values = evaluation.forward(batch.trainable)
        evaluation.backward(logits.clamp(min=-1.0), values)
        gradients.append((logits, values, learner.optimisers[POLICY].gradient.clone()))
    torch.testing.assert_close(gradients[0], gradients[1])


def test_a_perceptron_in_bfloat16_keeps_wide_weights_and_gradients() -> None:
    """Rounded to 8 bits of mantissa on the way, as under autograd's autocast; the outputs are near those in float32."""
    batch = random_batch()
    found = []
    kinds: list[tuple[type[BatchPass], torch.dtype | None]] = [
        (DirectBatchPass, None),
        (AutogradBatchPass, torch.bfloat16),
        (CastBatchPass, torch.bfloat16),
    ]
    for kind, narrow in kinds:
        torch.manual_seed(2)
        learner = learner_of(Mlp(observation_shape=(6,), actions=5, hidden=[8, 7]), PpoOptions())
        learner.to(torch.device("cpu"), narrow)
        evaluation = kind(learner, batch)
        logits, values = evaluation.forward(batch.trainable)
        evaluation.backward(logits.clamp(min=-1.0), values)
        gradient = learner.optimisers[POLICY].gradient
        assert logits.dtype == values.dtype == gradient.dtype == torch.float32
        found.append((logits, values, gradient.clone()))
    exact, recorded, cast = found
    assert not torch.equal(cast[1], exact[1])
    torch.testing.assert_close(cast, recorded, atol=0.02, rtol=0.02)
    torch.testing.assert_close(cast, exact, atol=0.05, rtol=0.05)
    assert type(evaluate(learner, batch)) is CastBatchPass


def test_a_recurrent_model_is_unrolled_along_each_game() -> None:
    batch = random_batch(states=3)
    torch.manual_seed(3)
    learner = learner_of(GruNet(observation_shape=(6,), actions=5, hidden=4, state=3), PpoOptions())
    evaluation = RecurrentBatchPass(learner, batch)
    (rows,) = evaluation.minibatches(1, np.random.default_rng(0))
    assert sorted(rows) == batch.trainable.tolist()
    logits, values = evaluation.forward(rows)
    followed = {int(after): row for row, after in enumerate(batch.next_row) if after >= 0}

    def state_before(row: int) -> torch.Tensor:
        if row not in followed:
            return torch.from_numpy(batch.states[row : row + 1])
        return run(followed[row])[2]

    def run(row: int) -> tuple[torch.Tensor, ...]:
        arguments = (batch.observations[row : row + 1], batch.legal[row : row + 1])
        out: tuple[torch.Tensor, ...] = learner.model(*map(torch.from_numpy, arguments), state_before(row))
        return out

    for position, row in enumerate(rows.tolist()):
        torch.testing.assert_close(logits[:, position], run(row)[0][0].detach())
        torch.testing.assert_close(values[position], run(row)[1][0].detach())
    evaluation.backward(torch.zeros_like(logits), torch.ones_like(values))
    expected = torch.autograd.grad(
        sum((run(int(row))[1].sum() for row in rows), torch.zeros(())), list(learner.model.parameters())
    )
    gradient = learner.optimisers[POLICY].gradient
    torch.testing.assert_close(gradient, torch.cat([g.reshape(-1) for g in expected]), atol=1e-4, rtol=1e-4)


def test_on_policy_vtrace_without_clipping_is_gae_with_lambda_one() -> None:
    batch = random_batch()
    targets = vtrace(batch, batch, gamma=0.9)
    expected = gae(batch, 0.9, 1.0)
    np.testing.assert_allclose(targets.returns, expected.returns, atol=1e-5)
    known = batch.next_row != PENDING
    np.testing.assert_allclose(targets.advantages[known], expected.advantages[known], atol=1e-5)


def test_vtrace_cuts_the_weight_of_decisions_the_policy_would_not_take() -> None:
    batch = random_batch()
    unlikely = batch.with_columns({"log_prob": batch.log_probs - 50.0})
    targets = vtrace(batch, unlikely, gamma=1.0, lam=0.95)
    np.testing.assert_allclose(targets.returns, batch.values, atol=1e-6)
    np.testing.assert_allclose(targets.advantages, 0.0, atol=1e-6)


@pytest.mark.parametrize("recurrent", [False, True])
def test_algorithms_raise_what_pays(recurrent: bool) -> None:
    """Action 0 always pays, the others never: after some updates it is the likeliest by far."""
    batch = random_batch(rows=200, states=3 if recurrent else 0)
    paid = batch.with_columns({"reward": (batch.actions == 0).astype(np.float32)})
    for kind, options in (
        (Ppo, PpoOptions(learning_rate=0.02, gamma=0.0, target_kl=0.0)),
        (Vtrace, VtraceOptions(learning_rate=0.02, gamma=0.0)),
    ):
        torch.manual_seed(4)
        model = (
            GruNet(observation_shape=(6,), actions=5, hidden=8, state=3)
            if recurrent
            else Mlp(observation_shape=(6,), actions=5, hidden=[16])
        )
        learner = learner_of(model, options)
        algorithm = kind(options, 200)
        evaluation = RecurrentBatchPass if recurrent else AutogradBatchPass
        for _ in range(60):
            (rows,) = evaluation(learner, paid).minibatches(1, np.random.default_rng(0))
            logits, values = evaluation(learner, paid).forward(rows)
            log_probs, old_values = paid.log_probs.copy(), paid.values.copy()
            log_probs[rows] = policy_terms(logits, torch.from_numpy(paid.actions[rows]).unsqueeze(0)).taken.numpy()
            old_values[rows] = values.numpy()
            paid = paid.with_columns({"log_prob": log_probs, "value": old_values})
            updated(algorithm, learner, paid)
        logits, _ = evaluation(learner, paid).forward(rows)
        assert float(torch.softmax(logits, 0)[0].mean()) > 0.8


def test_a_large_step_ends_the_update_early() -> None:
    options = PpoOptions(learning_rate=0.1, epochs=10, target_kl=0.01)
    learner = learner_of(Mlp(observation_shape=(6,), actions=5), options)
    assert updated(Ppo(options, 48), learner, random_batch())["epochs"] < 10


def test_reading_ahead_while_other_processes_are_waited_for_changes_no_bit() -> None:
    options = PpoOptions(epochs=3, minibatch=10, target_kl=0.0)
    ppo = Ppo(options, 48)
    calls: list[int] = []

    def alone(_: torch.Tensor, meanwhile: Callable[[], object] | None = None, /) -> None:
        """The average of one process that never reads ahead."""

    def ahead(_: torch.Tensor, meanwhile: Callable[[], object] | None = None, /) -> None:
        if meanwhile is not None:
            meanwhile()
            calls.append(1)

    weights = []
    for reduce in (alone, ahead):
        torch.manual_seed(1)
        learner = learner_of(Mlp(observation_shape=(6,), actions=5, hidden=[8, 7]), options)
        learner.connect(reduce)
        updated(ppo, learner, random_batch())
        weights.append(learner.optimisers[POLICY].flat.clone())
    assert len(calls) == 3 * (ppo.minibatches - 1) > 0, "before each minibatch but the first of an epoch"
    assert torch.equal(*weights)
