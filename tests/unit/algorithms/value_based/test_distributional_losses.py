"""The losses of Rainbow and QR-DQN against slow loops that autograd differentiates."""

import pytest
import torch
from torch import Tensor

from orchestrator.spec.algorithms.value_based import QrdqnOptions, RainbowOptions
from tests.unit.algorithms.targets.test_distributional import slow_projection, slow_quantile_huber
from tests.unit.algorithms.value_based.steps import legal_actions, rows
from workers.algorithms.value_based.qrdqn import Qrdqn
from workers.algorithms.value_based.rainbow import Rainbow

ACTIONS, ATOMS, QUANTILES = 3, 7, 5


def slow_logits(out: Tensor, row: int, action: int, dueling: bool) -> Tensor:
    parts = out[row, :-1].reshape(-1, ATOMS)
    if not dueling:
        return parts[action]
    return parts[ACTIONS] + parts[action] - parts[:ACTIONS].mean(0)


@pytest.mark.parametrize("dueling", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_rainbow_s_loss_is_the_slow_cross_entropy(dueling: bool, masked: bool) -> None:
    options = RainbowOptions(dueling=dueling, atoms=ATOMS, value_low=-3.0, value_high=3.0)
    given = rows((ACTIONS + dueling) * ATOMS, ACTIONS, seed=5, masked=masked)
    now = given.now.clone().requires_grad_()
    support = torch.linspace(-3.0, 3.0, ATOMS)
    losses = []
    for row in range(len(now)):
        allowed = legal_actions(given.batch.next_legal, row, ACTIONS) or [0]
        means = {a: float(torch.softmax(slow_logits(given.later, row, a, dueling), 0) @ support) for a in allowed}
        best = max(allowed, key=means.__getitem__)
        later = torch.softmax(slow_logits(given.lagged, row, best, dueling), 0).unsqueeze(0)
        reward, discount = given.batch["reward"][row : row + 1], given.batch["discount"][row : row + 1]
        wanted = slow_projection(reward, discount, later, -3.0, 3.0)[0]
        taken = torch.log_softmax(slow_logits(now, row, int(given.batch["action"][row]), dueling), 0)
        losses.append(-(wanted * taken).sum())
    (gradient,) = torch.autograd.grad(torch.stack(losses).sum(), now)
    found = Rainbow(options).gradient(given.step)
    assert torch.allclose(found.loss, torch.stack(losses).detach(), atol=1e-4)
    assert torch.allclose(found.outputs, gradient, atol=1e-4)


@pytest.mark.parametrize("masked", [False, True])
def test_qrdqn_s_loss_is_the_slow_quantile_huber_loss(masked: bool) -> None:
    given = rows(ACTIONS * QUANTILES, ACTIONS, seed=6, masked=masked)
    now = given.now.clone().requires_grad_()
    losses = []
    for row in range(len(now)):
        allowed = legal_actions(given.batch.next_legal, row, ACTIONS) or [0]
        means = given.later[row, :-1].view(ACTIONS, QUANTILES).mean(1)
        best = max(allowed, key=lambda a: float(means[a]))
        later = given.lagged[row, :-1].view(ACTIONS, QUANTILES)[best]
        wanted = given.batch["reward"][row] + given.batch["discount"][row] * later
        predicted = now[row, :-1].view(ACTIONS, QUANTILES)[int(given.batch["action"][row])]
        losses.append(slow_quantile_huber(predicted.unsqueeze(0), wanted.unsqueeze(0), 1.0)[0])
    (gradient,) = torch.autograd.grad(torch.stack(losses).sum(), now)
    found = Qrdqn(QrdqnOptions(quantiles=QUANTILES)).gradient(given.step)
    assert torch.allclose(found.loss, torch.stack(losses).detach(), atol=1e-4)
    assert torch.allclose(found.outputs, gradient, atol=1e-5)
