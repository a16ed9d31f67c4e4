"""Lagged copies move as one flat tensor, bit for bit as each parameter by itself would."""

import copy

import pytest
import torch
from torch import nn

from workers.algorithms.learner import Learner


@pytest.mark.parametrize("tau", [0.005, 0.3, 1.0])
@pytest.mark.parametrize("first", ["lagged", "optimiser"])
def test_a_flat_step_is_that_of_each_parameter(tau: float, first: str) -> None:
    torch.manual_seed(1)
    nets = {
        "policy": nn.Sequential(nn.Linear(3, 17), nn.BatchNorm1d(17)),
        "critics": nn.Sequential(nn.Linear(5, 19), nn.ReLU(), nn.Linear(19, 1)),
    }
    learner = Learner(nets)
    if first == "lagged":
        learner.lag("critics", tau=tau)
    learner.optimiser("policy", ["policy", "critics"], learning_rate=0.1)
    if first == "optimiser":
        learner.lag("critics", tau=tau)
    learner.to(torch.device("cpu"))
    expected = copy.deepcopy(learner.lagged("critics"))
    for step in range(4):
        torch.manual_seed(step)
        learner.optimisers["policy"].gradient.normal_()
        learner.step()
        with torch.no_grad():
            for mine, theirs in zip(expected.parameters(), nets["critics"].parameters(), strict=True):
                mine.lerp_(theirs, tau) if tau < 1.0 else mine.copy_(theirs)
        for mine, theirs in zip(expected.parameters(), learner.lagged("critics").parameters(), strict=True):
            assert torch.equal(mine, theirs)
    assert learner._lagged["critics"].flat is not None
