"""Targets, losses and tools return what other projects' functions return for the same inputs.

The values are recorded (`benchmarks/peers/tool_values.py` makes them), so that no other project need be installed.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from benchmarks.peers.tool_values import ATOMS, DECISIONS, GAMMA, LAMBDA, ROWS, STEPS
from tests.unit.buffers.samples import LENGTH, counting
from workers.algorithms.exploration.noise import ornstein_uhlenbeck
from workers.algorithms.exploration.schedules import scheduled
from workers.algorithms.targets.counterfactual import counterfactual_advantages
from workers.algorithms.targets.distributional import project, quantile_huber
from workers.algorithms.targets.gae import gae
from workers.algorithms.targets.n_step import n_step, rescale, rescaled_n_step
from workers.algorithms.targets.td_lambda import td_lambda
from workers.algorithms.targets.upgo import upgo
from workers.algorithms.targets.vtrace import vtrace
from workers.buffers.prioritised import Prioritised
from workers.models.normalised import Normalised
from workers.rollout.batch import PENDING, TERMINAL, Experience

RECORDED: dict[str, Any] = json.loads((Path(__file__).parents[1] / "recorded" / "other_projects.json").read_text())
DING, SB3, TIANSHOU = RECORDED["di_engine"], RECORDED["sb3"], RECORDED["tianshou"]
X = {name: torch.tensor(value) for name, value in RECORDED["inputs"].items()}
FEW = torch.arange(ROWS)


def experience(done: Tensor | None = None) -> Experience:
    """The sequences as rows, step by step; a last row of each stream bootstraps."""
    count = (STEPS + 1) * ROWS
    next_row = np.arange(count) + ROWS
    next_row[-ROWS:] = PENDING
    if done is not None:
        next_row[: STEPS * ROWS][done.numpy().reshape(-1) > 0] = TERMINAL
    columns = {
        "reward": np.append(X["reward"].numpy().reshape(-1), np.zeros(ROWS, np.float32)),
        "value": X["value"].numpy().reshape(-1),
        "log_prob": np.zeros(count, np.float32),
    }
    return Experience(
        columns=columns,
        next_row=next_row,
        offsets=np.arange(0, count + 1, ROWS),
        streams=np.arange(count) % ROWS,
        acted_by=np.zeros(count, np.int64),
        tables=ROWS,
    )


def same(found: np.ndarray | Tensor, wanted: Any, tolerance: float = 1e-5) -> None:
    """Equal up to rounding; rows of `experience` are compared without those that only bootstrap."""
    array = np.asarray(found)
    expected = np.asarray(wanted, array.dtype)
    if array.size == expected.size + ROWS:
        array = array[:-ROWS].reshape(expected.shape)
    np.testing.assert_allclose(array, expected, atol=tolerance, rtol=1e-4)


@pytest.mark.parametrize("by", [DING, SB3], ids=["di_engine", "sb3"])
def test_gae(by: dict[str, Any]) -> None:
    found = gae(experience(X["done"]), GAMMA, LAMBDA)
    same(found.advantages, by["gae"])
    if "gae_returns" in by:
        same(found.returns, by["gae_returns"])


def test_td_lambda_and_upgo() -> None:
    batch = experience()
    same(td_lambda(batch, GAMMA, LAMBDA), DING["td_lambda"])
    same(upgo(batch, 1.0) + batch.values, DING["upgo"])  # theirs has no discount


def test_vtrace() -> None:
    played = experience()
    ratios = np.append(X["ratio"].numpy().reshape(-1), np.ones(ROWS, np.float32))
    present = played.with_columns({"log_prob": np.log(ratios)})
    found = vtrace(played, present, gamma=GAMMA, lam=LAMBDA, rho_clip=1.5, trace_clip=1.0)
    same(found.returns, DING["vtrace"])
    same(found.advantages, DING["vtrace_advantage"])


def sequence_discounts() -> Tensor:
    """gamma, and 0 where the last reward ended the game."""
    discounts = torch.full((STEPS, ROWS), GAMMA)
    discounts[-1] *= 1.0 - X["last_done"]
    return discounts


def test_n_step_returns_and_rescaled_ones() -> None:
    later = torch.zeros(STEPS, ROWS)
    later[-1] = X["value"][-1]
    same(n_step(X["reward"], sequence_discounts(), later, STEPS)[0], DING["n_step"])
    # theirs rescales with a slope of 1e-2 where ours has the paper's 1e-3: the same function otherwise
    same(rescale(torch.tensor([5.0, -2.0]), 1e-2), [6**0.5 - 1 + 0.05, -(3**0.5 - 1) - 0.02])


def test_rescaled_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (rescale, rescaled_n_step.__globals__["unscale"]):
        monkeypatch.setattr(function, "__defaults__", (1e-2,))  # theirs has this slope
    later = torch.zeros(STEPS, ROWS)
    later[-1] = X["later_quantiles"][FEW, X["later_taken"], 0]
    wanted = rescaled_n_step(X["reward"], sequence_discounts(), later, STEPS)[0]
    same((X["quantiles"][FEW, X["taken"], 0] - wanted).square(), DING["rescaled_squared_error"], 1e-4)


def summed() -> tuple[Tensor, Tensor]:
    """The discounted sum of all rewards, and the discount of what follows."""
    powers = GAMMA ** torch.arange(STEPS)
    return powers @ X["reward"], GAMMA**STEPS * (1.0 - X["last_done"])


def test_the_loss_of_projected_distributions() -> None:
    wanted = project(*summed(), X["later_atoms"][FEW, X["later_taken"]], -4.0, 4.0)
    same(-(wanted * X["atoms"][FEW, X["taken"]].log()).sum(1), DING["distributional_loss"])


def test_the_quantile_loss() -> None:
    here, later = X["quantiles"][FEW, X["taken"]], X["later_quantiles"][FEW, X["later_taken"]]
    same(quantile_huber(here, later)[0], SB3["quantile_loss"])
    reward, discount = summed()
    wanted = reward.unsqueeze(1) + discount.unsqueeze(1) * later
    # theirs sums over the targets and means over the estimates; ours the other way round, as many of each
    same(quantile_huber(here, wanted)[0], DING["quantile_loss"])
    assert here.shape[1] == wanted.shape[1] == ATOMS


def test_comas_policy_loss() -> None:
    log_probs = torch.log_softmax(X["logits"], -1)
    advantages = counterfactual_advantages(X["q"], log_probs.exp(), X["mates"])
    taken = log_probs.gather(-1, X["mates"].unsqueeze(-1)).squeeze(-1)
    same(-(taken * advantages).mean(), DING["coma_policy_loss"])


def test_ornstein_uhlenbeck_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    # theirs draws normal numbers, ours inverts uniform ones: both get the same normal numbers here
    monkeypatch.setitem(ornstein_uhlenbeck.__globals__, "standard_normal", lambda draws: draws)
    state, found = np.zeros(3, np.float32), []
    for normals in SB3["ornstein_uhlenbeck_normals"]:
        state = ornstein_uhlenbeck(state, np.asarray(normals, np.float32), 0.2)
        found.append(state)
    same(np.stack(found), SB3["ornstein_uhlenbeck"])


def test_a_linear_schedule() -> None:
    found = [scheduled("linear", start=1.0, end=0.05, over=0.4, steps=done) for done in (0.0, 0.1, 0.2, 0.4, 0.9)]
    same(np.array(found), SB3["linear_schedule"])


def test_a_running_normaliser() -> None:
    net = Normalised(nn.Identity(), (2,))
    for start, end in ((0, 5), (5, 6), (6, 40)):
        net.absorb(Normalised.moments(X["observations"][start:end]), end - start)
    same(net.mean, SB3["running_mean"])
    same(net.spread.square(), SB3["running_variance"], 1e-4)


def test_prioritised_chances_and_weights() -> None:
    buffer = Prioritised(capacity=DECISIONS, alpha=0.6, beta=0.4)
    (whole_games,) = counting(1, steps=LENGTH)
    buffer.add(whole_games)
    buffer.feedback(np.arange(DECISIONS), X["errors"].numpy())
    draw = buffer.draw(40_000, np.random.default_rng(1))
    assert draw is not None
    shares = np.bincount(draw.ids, minlength=DECISIONS) / len(draw.ids)
    same(shares, TIANSHOU["priority_chances"], 1e-4)
    weights = np.zeros(DECISIONS, np.float32)
    weights[draw.ids] = draw.weights
    theirs = np.asarray(TIANSHOU["priority_weights"])
    same(weights, theirs / theirs.max(), 1e-4)
