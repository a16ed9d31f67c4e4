"""Models: the built-ins keep the contract, a user's own works, and one that breaks it is refused by name."""

import pytest
import torch
from torch import Tensor, nn

from orchestrator.catalog import Component
from workers.games.builtin.connect_four import ConnectFour
from workers.games.builtin.kuhn_poker import KuhnPoker
from workers.models.contract import BadModel, build_model, mask_logits, state_size

SPEC = ConnectFour(tables=1).spec


class Linear(nn.Module):
    """A user's model."""

    def __init__(self, *, observation_shape: tuple[int, ...], actions: int, flaw: str = "") -> None:
        super().__init__()
        self.actions, self.flaw = actions, flaw
        self.layer = nn.LazyLinear(actions + 1)

    def forward(self, observations: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
        out = self.layer(observations.flatten(1))
        logits, value = out[:, : self.actions], out[:, self.actions :]
        if self.flaw != "unmasked":
            logits = mask_logits(logits, legal)
        if self.flaw == "infinite":
            logits = logits.masked_fill(~legal, -torch.inf)
        return logits, value if self.flaw == "shape" else value.squeeze(1)


def not_a_module(**_: object) -> nn.Module:
    return "surprise"  # type: ignore[return-value]


HERE = "tests.unit.training.models.test_models"


@pytest.mark.parametrize("name", ["mlp", "conv", "convres", "gru", f"{HERE}:Linear"])
def test_models_of_the_catalog_and_of_users_keep_the_contract(name: str) -> None:
    model = build_model(Component(id=name), SPEC, seed=3)
    again = build_model(Component(id=name), SPEC, seed=3)
    for one, two in zip(model.parameters(), again.parameters(), strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=0)


def test_seeds_give_other_weights_and_leave_the_global_state_alone() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    one, two = (build_model(Component(id="mlp"), SPEC, seed=seed) for seed in (1, 2))
    assert not torch.equal(next(one.parameters()), next(two.parameters()))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        (f"{HERE}:Linear", {"flaw": "unmasked"}, "does not mask"),
        (f"{HERE}:Linear", {"flaw": "infinite"}, "not finite"),
        (f"{HERE}:Linear", {"flaw": "shape"}, "returned shapes"),
        (f"{HERE}:not_a_module", {}, "made a str"),
        ("mlp", {"hiden": [3]}, "hiden"),
        ("mlp", {"hidden": []}, "positive whole numbers"),
        ("mlp", {"activation": "swish"}, "one of relu, tanh"),
        ("conv", {"channels": 0}, "channels must be at least 1"),
        ("gru", {"state": 0}, "state must be at least 1"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused(name: str, options: dict[str, object], says: str) -> None:
    with pytest.raises(BadModel, match=says):
        build_model(Component(id=name, options=options), SPEC)


def test_convolutions_need_planes() -> None:
    with pytest.raises(BadModel, match="planes"):
        build_model(Component(id="conv"), KuhnPoker(tables=1).spec)


def test_only_the_recurrent_one_has_a_state() -> None:
    assert state_size(build_model(Component(id="mlp"), SPEC)) == 0
    assert state_size(build_model(Component(id="gru", options={"state": 5}), SPEC)) == 5
