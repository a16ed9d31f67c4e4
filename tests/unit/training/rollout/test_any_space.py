"""Sampling and learning with any space: Dict observations, actions of every kind, nested recurrent states, dropout."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from orchestrator.catalog import Component
from tests.unit.games.environments import ACTIONS
from workers.algorithms.heads import head_terms
from workers.games.names import make_game
from workers.games.protocol import GameSpec, VectorGame
from workers.inference.policy import Policy
from workers.models.contract import BadModel, build_model, encode, head_of, mask_logits, run_model
from workers.models.encoding import Encoder, to_tensors
from workers.rollout.batch import Experience
from workers.rollout.sampler import Sampler
from workers.rollout.seating import seat

HERE = "tests.unit.training.rollout.test_any_space"


def robots(actions: str, tables: int = 4) -> VectorGame:
    options = {"actions": actions}
    return make_game("gymnasium", tables, env="tests.unit.games.environments:Robot", options=options, max_steps=9)


def sampled(game: VectorGame, policy: Policy, steps: int = 6) -> Experience:
    rng = np.random.default_rng(0)
    game.reset(np.arange(game.tables, dtype=np.uint64))
    seating = seat(tables=game.tables, teams=game.spec.teams, shares=[1.0], rng=rng)
    return Sampler(game=game, seating=seating, learner=policy, steps=steps, rng=rng).collect()


class ByParts(nn.Module):
    """A user's model over the parts of an observation, with a nested state and a dropout."""

    state_shapes = {"lstm": ((8,), (8,)), "seen": (2, 3)}  # noqa: RUF012

    def __init__(self, *, spec: GameSpec, outputs: int, flaw: str = "") -> None:
        super().__init__()
        self.flaw = flaw
        self.camera = nn.Conv2d(3, 4, 2)
        self.joints = nn.Linear(2, 4)
        self.cell = nn.LSTMCell(4 * 9 + 4, 8)
        self.dropout = nn.Dropout(0.5)
        self.heads = nn.Linear(8, outputs + 1)

    def forward(self, observations: dict[str, Tensor], legal: Tensor | None, state: Any) -> Any:
        assert observations["camera"].dtype == torch.uint8
        camera = self.camera(observations["camera"].movedim(3, 1) / 255).flatten(1)
        joined = torch.cat([camera, self.joints(observations["joints"])], 1)
        hidden, cell = self.cell(self.dropout(joined), state["lstm"])
        out = self.heads(hidden)
        after = {"lstm": (hidden, cell), "seen": state["seen"] + 1}
        return mask_logits(out[:, :-1], legal), out[:, -1], after["lstm"] if self.flaw else after


@pytest.mark.parametrize("model", ["mlp", f"{HERE}:ByParts"])
@pytest.mark.parametrize("actions", ACTIONS)
def test_log_probabilities_of_rollouts_are_those_of_the_model(actions: str, model: str) -> None:
    game = robots(actions)
    net = build_model(Component(id=model), game.spec, 1)
    assert not net.training
    batch = sampled(game, Policy(net))
    assert batch.columns["obs/camera"].dtype == np.uint8
    assert ("legal" in batch.columns) == (actions in ("discrete", "several"))
    assert batch.actions.dtype == game.layout.dtype and batch.actions.shape[1:] == game.layout.shape
    legal = torch.from_numpy(batch.legal) if "legal" in batch.columns else None
    outputs, values, _ = run_model(net, to_tensors(batch.observations), legal, torch.from_numpy(batch.states))
    terms = head_terms(head_of(net), outputs.t().contiguous(), torch.from_numpy(batch.actions))
    np.testing.assert_allclose(terms.taken.detach(), batch.log_probs, atol=1e-4)
    np.testing.assert_allclose(values.detach(), batch.values, atol=1e-5)


def test_a_nested_state_is_carried_from_step_to_step_and_cleared_with_the_game() -> None:
    game = robots("box", tables=1)
    net = build_model(Component(id=f"{HERE}:ByParts"), game.spec, 1)
    batch = sampled(game, Policy(net), steps=5)
    assert batch.states.shape == (5, 22)
    assert batch.states[:, 16:].tolist() == [[float(step % 3)] * 6 for step in range(5)]
    assert np.abs(batch.states[1, :16]).sum() > 0 and not batch.states[3].any()


@pytest.mark.parametrize("actions", ["several", "binary", "box", "nested"])
def test_the_gradient_at_a_head_is_that_of_the_loss(actions: str) -> None:
    head = head_of(build_model(Component(id="mlp", options={"head": "squashed"}), robots(actions, 1).spec))
    assert head is not None
    outputs = torch.randn(5, head.size, generator=torch.Generator().manual_seed(1), requires_grad=True)
    taken, _ = head.sample(outputs.detach(), torch.full(head.layout.draws_shape(5), 0.4))
    weights = torch.linspace(-1, 1, 5)
    loss = (weights * head.log_prob(outputs, taken)).sum() - 0.3 * head.entropy(outputs).sum()
    loss.backward()
    with torch.no_grad():
        found = head_terms(head, outputs.detach().t().contiguous(), taken).gradient(weights, 0.3)
    assert outputs.grad is not None
    torch.testing.assert_close(found.t(), outputs.grad)


def test_the_encoder_flattens_parts_scales_images_and_makes_numbers_one_hot() -> None:
    game = robots("box", 2)
    game.reset(np.arange(2, dtype=np.uint64))
    seen = game.turn().observations
    encoded = Encoder(game.spec.observation)(to_tensors(seen))
    assert encoded.shape == (2, 48 + 2 + 3 + 2 + 1) and encoded.dtype == torch.float32
    np.testing.assert_allclose(encoded[:, :48], seen["camera"].reshape(2, -1) / 255)
    net = build_model(Component(id="mlp", options={"normalise": True}), game.spec)
    torch.testing.assert_close(encode(net, to_tensors(seen)), encoded)
    assert torch.equal(encode(net, encoded), encoded)


def test_what_a_model_or_a_head_cannot_do_is_refused_by_name() -> None:
    with pytest.raises(BadModel, match=r"head must be one of gaussian, squashed, beta, not 'cauchy'"):
        build_model(Component(id="mlp", options={"head": "cauchy"}), robots("box", 1).spec)
    with pytest.raises(BadModel, match="needs images of"):
        build_model(Component(id="nature"), robots("box", 1).spec)
    with pytest.raises(BadModel, match=r"ByParts' does not take 3 tensors as documented"):
        build_model(Component(id=f"{HERE}:ByParts", options={"flaw": "state"}), robots("box", 1).spec)
    with pytest.raises(BadModel, match="normalise: true needs observations of one float32 array"):
        build_model(Component(id=f"{HERE}:ByParts", options={"normalise": True}), robots("box", 1).spec)
