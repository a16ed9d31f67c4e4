"""The residual net's fast form computes what the net does, from the weights of its moment."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from orchestrator.catalog import Component
from workers.games.names import make_game
from workers.inference.policy import Policy
from workers.models import convres
from workers.models.contract import build_model
from workers.models.convres import ConvRes
from workers.search.networks import network

GAME = make_game("connect_four", 32)
SMALL = Component(id="convres", options={"channels": 16, "blocks": 2})


def trained_like() -> ConvRes:
    """A net whose layers all matter: fresh ones begin with residuals of 0."""
    model = build_model(SMALL, GAME.spec, 1)
    assert isinstance(model, ConvRes)
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(1)
        for name, parameter in model.named_parameters():
            if "second" in name or "heads" in name:
                parameter.normal_(0.0, 1.0 if "heads" in name else 0.1)
    return model


def rows() -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(1)
    legal = rng.random((32, 7)) < 0.7
    legal[:, 0] = True
    observations = (rng.random((32, *GAME.spec.observation_shape)) < 0.3).astype(np.float32)
    return torch.from_numpy(observations), torch.from_numpy(legal)


@pytest.mark.parametrize("with_one_dnn", [True, False])
@pytest.mark.parametrize(("kind", "near"), [(torch.float32, 1e-5), (torch.bfloat16, 0.03)])
def test_the_fast_form_computes_the_same(
    kind: torch.dtype, near: float, with_one_dnn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convres, "_ONE_DNN", with_one_dnn and convres._ONE_DNN)
    model = trained_like()
    with torch.inference_mode():
        wanted, found = model(*rows()), model.inference(kind)(*rows())
    legal = rows()[1]
    assert bool((found[0][~legal] < -1e8).all())
    torch.testing.assert_close(found[0][legal], wanted[0][legal], atol=near, rtol=0.0)
    torch.testing.assert_close(found[1], wanted[1], atol=near, rtol=0.0)
    assert float(wanted[1].std()) > 0.05, "rows differ by more than what is allowed here"


def test_a_search_sees_new_weights_once_it_renews() -> None:
    model = trained_like()
    judge = network(Policy(model, SMALL))
    observations, legal = (part.numpy() for part in rows())
    before = judge(observations, legal)[1]
    with torch.no_grad():
        model.heads.bias += 1.0
    judge.renew()
    np.testing.assert_allclose(judge(observations, legal)[1], before + 1.0, atol=1e-5)
    np.testing.assert_allclose(judge(observations[:2], legal[:2])[1], before[:2] + 1.0, atol=1e-4)
