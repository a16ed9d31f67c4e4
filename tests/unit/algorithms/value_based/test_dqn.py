"""DQN's loss against a slow loop that autograd differentiates, with every option."""

from itertools import product

import pytest
import torch
from torch import Tensor

from orchestrator.spec.algorithms.value_based import DqnOptions
from tests.unit.algorithms.value_based.steps import Rows, legal_actions, rows
from workers.algorithms.value_based.dqn import Dqn

ACTIONS = 4


def q(out: Tensor, row: int, action: int, allowed: list[int], dueling: bool) -> Tensor:
    if not dueling:
        return out[row, action]
    mean = sum((out[row, a] for a in allowed), torch.zeros(())) / max(1, len(allowed))
    return out[row, ACTIONS] + out[row, action] - mean


def slow_losses(given: Rows, now: Tensor, options: DqnOptions) -> list[Tensor]:
    losses = []
    chooses = given.later if options.double else given.lagged
    for row in range(len(now)):
        allowed = legal_actions(given.batch.legal, row, ACTIONS)
        later = legal_actions(given.batch.next_legal, row, ACTIONS)
        wanted = given.batch["reward"][row].clone()
        if given.batch["discount"][row] > 0:
            best = max(later, key=lambda a: float(q(chooses, row, a, later, options.dueling)))
            wanted += given.batch["discount"][row] * q(given.lagged, row, best, later, options.dueling)
        error = q(now, row, int(given.batch["action"][row]), allowed, options.dueling) - wanted
        huber = options.loss == "huber" and abs(float(error.detach())) > 1.0
        losses.append(error.abs() - 0.5 if huber else 0.5 * error**2)
    return losses


@pytest.mark.parametrize(("dueling", "double", "masked"), list(product([False, True], repeat=3)))
@pytest.mark.parametrize("loss", ["huber", "squared"])
def test_the_loss_and_its_gradient_are_the_slow_ones(loss: str, dueling: bool, double: bool, masked: bool) -> None:
    options = DqnOptions.model_validate({"loss": loss, "dueling": dueling, "double": double})
    given = rows(ACTIONS, ACTIONS, seed=3, masked=masked)
    if not double:
        given = Rows(given.batch, given.now, given.lagged, given.lagged)
    now = given.now.clone().requires_grad_()
    losses = torch.stack(slow_losses(given, now, options))
    (gradient,) = torch.autograd.grad(losses.sum(), now)
    found = Dqn(options).gradient(given.step)
    assert torch.allclose(found.loss, losses.detach(), atol=1e-5)
    assert torch.allclose(found.outputs, gradient, atol=1e-5)
    assert (found.surprise >= 0).all()


def test_forbidden_actions_get_no_gradient_and_are_never_the_target() -> None:
    given = rows(ACTIONS, ACTIONS, seed=4)
    huge = given.later.clone()
    legal = given.batch.next_legal
    assert legal is not None and given.batch.legal is not None
    huge[:, :-1][~legal] = 1e6
    for dueling in (False, True):
        algorithm = Dqn(DqnOptions(dueling=dueling))
        found = algorithm.gradient(given.step)
        assert (found.outputs[:, :-1][~given.batch.legal] == 0).all()
        changed = algorithm.gradient(Rows(given.batch, given.now, huge, given.lagged).step)
        assert torch.equal(found.loss, changed.loss)
