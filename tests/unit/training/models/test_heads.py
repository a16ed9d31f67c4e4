"""Action heads: their samples, log-probabilities and entropies agree with torch's distributions and with each other."""

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch.distributions import Bernoulli, Beta, Categorical, Independent, Normal

from workers.games.spaces import ActionLayout
from workers.models.head_factory import make_head
from workers.models.heads import BadHead, Head

BOX = spaces.Box(np.array([-2.0, 0.0], np.float32), np.array([2.0, 10.0], np.float32))
NESTED = spaces.Dict({"aim": BOX, "fire": spaces.Discrete(3), "keys": spaces.MultiBinary(2)})
HEADS = {
    "discrete": (spaces.Discrete(4), "gaussian"),
    "multi-discrete": (spaces.MultiDiscrete([2, 3]), "gaussian"),
    "multi-binary": (spaces.MultiBinary(3), "gaussian"),
    "gaussian": (BOX, "gaussian"),
    "unbounded": (spaces.Box(-np.inf, np.inf, (2, 2)), "gaussian"),
    "squashed": (BOX, "squashed"),
    "beta": (BOX, "beta"),
    "nested": (NESTED, "squashed"),
}


def head_and_outputs(name: str, rows: int) -> tuple[Head, torch.Tensor]:
    space, box = HEADS[name]
    head = make_head(ActionLayout(space), box)  # type: ignore[arg-type]
    outputs = torch.randn(1, head.size, generator=torch.Generator().manual_seed(3)).expand(rows, -1).contiguous()
    return head, outputs


@pytest.mark.parametrize("name", HEADS)
def test_a_sample_has_the_layout_of_its_space_and_its_own_log_probability(name: str) -> None:
    head, outputs = head_and_outputs(name, 64)
    draws = torch.from_numpy(np.random.default_rng(0).random(head.layout.draws_shape(64), np.float32))
    for chosen in (draws, None):
        actions, log_probs = head.sample(outputs, chosen)
        array = actions.numpy()
        assert array.shape == (64, *head.layout.shape) and array.dtype == head.layout.dtype
        assert head.layout.inside(array).all()
        assert torch.isfinite(log_probs).all()
        assert torch.allclose(log_probs, head.log_prob(outputs, actions), atol=1e-5)
        if name in ("squashed", "beta", "nested"):
            low, high = head.layout.bounds
            assert (head.layout.flat(array) >= low).all() and (head.layout.flat(array) <= high).all()
    again, _ = head.sample(outputs, draws)
    assert torch.equal(again, head.sample(outputs, draws)[0])


@pytest.mark.parametrize("name", HEADS)
def test_entropy_is_the_mean_of_minus_log_probability(name: str) -> None:
    head, outputs = head_and_outputs(name, 40_000)
    draws = torch.from_numpy(np.random.default_rng(1).random(head.layout.draws_shape(40_000), np.float32))
    _, log_probs = head.sample(outputs, draws)
    assert float(-log_probs.mean()) == pytest.approx(float(head.entropy(outputs[:1])), abs=0.03)


@pytest.mark.parametrize("name", HEADS)
def test_divergence_is_the_mean_difference_of_log_probabilities(name: str) -> None:
    head, outputs = head_and_outputs(name, 40_000)
    other = outputs + 0.4 * torch.randn(1, head.size, generator=torch.Generator().manual_seed(4))
    draws = torch.from_numpy(np.random.default_rng(1).random(head.layout.draws_shape(40_000), np.float32))
    actions, log_probs = head.sample(outputs, draws)
    found = float(head.divergence(outputs[:1], other[:1]))
    assert found > 0.02
    assert found == pytest.approx(float((log_probs - head.log_prob(other, actions)).mean()), abs=0.02)
    assert float(head.divergence(outputs[:1], outputs[:1])) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("name", HEADS)
def test_log_probabilities_and_entropies_reach_the_outputs(name: str) -> None:
    head, outputs = head_and_outputs(name, 5)
    draws = torch.full(head.layout.draws_shape(5), 0.3)
    actions, _ = head.sample(outputs, draws)
    outputs.requires_grad_()
    (head.log_prob(outputs, actions).sum() + head.entropy(outputs).sum()).backward()
    assert outputs.grad is not None and torch.isfinite(outputs.grad).all() and outputs.grad.abs().sum() > 0


def test_log_probabilities_are_those_of_torch() -> None:
    rows = 7
    mean, log_std = torch.randn(2, rows, 2, generator=torch.Generator().manual_seed(1))
    log_std = log_std.clamp(-2, 1)
    outputs = torch.cat([mean, log_std], 1)
    half, middle = torch.tensor([2.0, 5.0]), torch.tensor([0.0, 5.0])
    draws = torch.from_numpy(np.random.default_rng(0).random((rows, 2), np.float32))
    gaussian = make_head(ActionLayout(BOX))
    actions, log_probs = gaussian.sample(outputs, draws)
    expected = Independent(Normal(middle + half * mean, half * log_std.exp()), 1)
    assert torch.allclose(log_probs, expected.log_prob(actions), atol=1e-4)
    assert torch.allclose(gaussian.entropy(outputs), expected.entropy(), atol=1e-5)
    beta = make_head(ActionLayout(BOX), "beta")
    actions, log_probs = beta.sample(outputs, draws)
    one, other = (1 + torch.nn.functional.softplus(outputs)).chunk(2, 1)
    share = (actions - middle + half) / (2 * half)
    expected_beta = Beta(one, other)
    assert torch.allclose(log_probs, (expected_beta.log_prob(share) - (2 * half).log()).sum(1), atol=1e-3)
    assert torch.allclose(beta.entropy(outputs), (expected_beta.entropy() + (2 * half).log()).sum(1), atol=1e-4)
    binary = make_head(ActionLayout(spaces.MultiBinary(4)))
    actions, log_probs = binary.sample(outputs, torch.rand(rows, 4))
    assert torch.allclose(log_probs, Bernoulli(logits=outputs).log_prob(actions.float()).sum(1), atol=1e-5)
    several = make_head(ActionLayout(spaces.MultiDiscrete([2, 2])))
    actions, log_probs = several.sample(outputs, draws)
    parts = [Categorical(logits=part) for part in outputs.split(2, 1)]
    assert torch.allclose(log_probs, sum(p.log_prob(actions[:, i]) for i, p in enumerate(parts)), atol=1e-5)


def test_a_head_that_does_not_fit_is_refused_by_name() -> None:
    with pytest.raises(BadHead, match=r"'beta' needs a Box with finite bounds, not Box\(-inf"):
        make_head(ActionLayout(spaces.Box(-np.inf, np.inf, (2,))), "beta")
    with pytest.raises(BadHead, match="head must be one of gaussian, squashed, beta, not 'cauchy'"):
        make_head(ActionLayout(BOX), "cauchy")  # type: ignore[arg-type]
