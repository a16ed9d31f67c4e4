"""Networks differentiated by hand give autograd's gradients."""

from typing import Any

import pytest
import torch

from orchestrator.catalog import Component
from workers.algorithms.differentiable import _Autograd, _Direct, differentiable
from workers.algorithms.learner import POLICY, Learner
from workers.games.names import make_game
from workers.models.contract import build_model


def learner(model: Component) -> Learner:
    found = Learner(build_model(model, make_game("connect_four", 1).spec, 5))
    found.optimiser(learning_rate=1e-3)
    found.lag()
    return found


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_perceptrons_by_hand(activation: str) -> None:
    mine = learner(Component(id="mlp", options={"hidden": [16, 8], "activation": activation}))
    shape = make_game("connect_four", 1).spec.observation_shape
    draw = torch.Generator().manual_seed(1)
    seen, later = (torch.rand(6, *shape, generator=draw) for _ in range(2))
    gradient = torch.randn(6, 8, generator=draw)
    direct = differentiable(mine)
    slow = _Autograd(mine, mine.model)
    assert isinstance(direct, _Direct)
    slow_out = slow.record(seen, None)
    slow.backward(gradient)
    wanted = mine.optimisers[POLICY].gradient.clone()
    mine.optimisers[POLICY].gradient.fill_(9.0)
    out, then = direct.record_both(seen, None, later, None)
    direct.backward(gradient)
    assert torch.allclose(out, slow_out, atol=1e-6) and torch.allclose(then, slow.values(later, None), atol=1e-6)
    assert torch.allclose(mine.optimisers[POLICY].gradient, wanted, atol=1e-5)
    assert torch.allclose(direct.values(seen, None), differentiable(mine, lagged=True).values(seen, None))


@pytest.mark.parametrize("model", ["conv", "normalised mlp"])
def test_other_networks_by_autograd(model: str) -> None:
    options: dict[str, Any] = {"normalise": True, "hidden": [8]} if model != "conv" else {"channels": 8, "blocks": 1}
    mine = learner(Component(id="conv" if model == "conv" else "mlp", options=options))
    net = differentiable(mine)
    assert isinstance(net, _Autograd)
    seen = torch.rand(3, *make_game("connect_four", 1).spec.observation_shape)
    out = net.record(seen, None)
    assert out.shape == (3, 8)
    net.backward(torch.ones_like(out))
    assert float(mine.optimisers[POLICY].gradient.abs().sum()) > 0
