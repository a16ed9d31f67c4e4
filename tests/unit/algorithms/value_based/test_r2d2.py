"""R2D2 along sequences: unrolled networks, rescaled targets, burn-in, and sequences drawn by priority."""

import numpy as np
import pytest
import torch

from orchestrator.catalog import Component
from orchestrator.spec.algorithms.value_based import R2d2Options
from tests.unit.algorithms.targets.test_n_step import slow_n_step
from workers.algorithms.building import build_learner
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.learner import Learner
from workers.algorithms.targets.n_step import rescale, unscale
from workers.algorithms.value_based.r2d2 import R2d2
from workers.algorithms.value_based.unrolling import unroll
from workers.buffers.contract import Batch
from workers.buffers.sequences import PrioritisedSequences
from workers.games.names import make_game
from workers.models.contract import mask_logits, run_model

SPEC = make_game("kuhn_poker", 1).spec
GRU = Component(id="gru", options={"hidden": 6, "state": 5})
STEPS, ROWS, ACTIONS = 6, 4, SPEC.actions


def made(**options: object) -> tuple[R2d2, Learner]:
    algorithm = R2d2(R2d2Options.model_validate({"length": 4, "burn_in": 2, "n_step": 2, **options}))
    return algorithm, build_learner(algorithm, GRU, SPEC, 3)


def sequences() -> Batch:
    draw = torch.Generator().manual_seed(4)
    obs = torch.rand(STEPS + 1, ROWS, *SPEC.observation_shape, generator=draw)
    legal = torch.rand(STEPS + 1, ROWS, ACTIONS, generator=draw) < 0.5
    legal[..., 0] = True
    valid = torch.ones(STEPS, ROWS)
    valid[4:, 1] = 0  # the game of the second ended after its fourth decision
    discount = torch.full((STEPS, ROWS), 0.9)
    discount[3, 1] = 0.0
    mask = valid.clone()
    mask[:2] = 0
    state = torch.rand(ROWS, 5, generator=draw)
    state[2] = 0.0  # the third starts with its game
    return Batch(
        {
            "obs": obs[:-1],
            "next/obs": obs[1:],
            "legal": legal[:-1],
            "next/legal": legal[1:],
            "action": torch.zeros(STEPS, ROWS, dtype=torch.long),
            "reward": torch.randn(STEPS, ROWS, generator=draw),
            "discount": discount,
            "valid": valid,
            "mask": mask,
            "state": state,
        }
    )


def test_the_gru_in_one_call_is_the_cell_step_by_step() -> None:
    _, learner = made()
    batch, model = sequences(), learner.model
    found, after = unroll(model, batch.obs, batch.legal, batch["state"])
    state: torch.Tensor | None = batch["state"]
    for step in range(STEPS):
        outputs, values, state = run_model(model, batch.obs[step], None, state)
        assert torch.allclose(found[step], torch.cat([outputs, values.unsqueeze(1)], 1), atol=1e-5)
    assert state is not None and torch.allclose(after, state, atol=1e-5)


def test_errors_are_those_of_the_slow_targets() -> None:
    algorithm, learner = made()
    batch = sequences()
    errors, values, mask = algorithm.sequence_errors(learner, batch)
    with torch.no_grad():
        shown = torch.cat([batch.obs[:1], batch.next_obs])
        now, _ = unroll(learner.model, shown, None, batch["state"])
        lagged, _ = unroll(learner.lagged(), shown, None, batch["state"])
        legal = batch.next_legal
        assert legal is not None
        best = mask_logits(now[1:, :, :-1], legal).argmax(2, keepdim=True)
        later = lagged[1:, :, :-1].gather(2, best).squeeze(2)
    last = torch.cat([batch["valid"][1:] == 0, torch.ones(1, ROWS, dtype=torch.bool)])
    wanted = rescale(slow_n_step(batch["reward"], batch["discount"], unscale(later), 2, last))
    there = batch["valid"] > 0
    assert torch.allclose(values, now[:-1, :, 0], atol=1e-5)
    assert torch.allclose(errors[there], (values - wanted)[there], atol=1e-4)
    assert mask[:, 2].tolist() == [1] * STEPS  # from the start of a game there is no burn-in
    assert mask[:, 0].tolist() == [0, 0, 1, 1, 1, 1] and mask[:, 1].tolist() == [0, 0, 1, 1, 0, 0]


def test_priorities_weigh_the_largest_error_and_the_mean() -> None:
    algorithm, _ = made(priority_eta=0.75)
    errors, mask = torch.tensor([[-9.0], [1.0], [-3.0]]), torch.tensor([[0.0], [1.0], [1.0]])
    assert algorithm._priorities(errors, mask).tolist() == [0.75 * 3 + 0.25 * 2]


def test_models_without_a_state_are_refused() -> None:
    with pytest.raises(BadAlgorithm, match="recurrent model, such as gru"):
        build_learner(R2d2(R2d2Options()), Component(id="mlp"), SPEC, 1)


def test_sequences_are_drawn_by_priority() -> None:
    algorithm, _ = made(warm_up=1, capacity=64)
    buffer = algorithm.buffer(SPEC)
    assert isinstance(buffer, PrioritisedSequences)
    from workers.buffers.dataset import from_columns

    rows = 12
    buffer.add(
        from_columns(
            {
                "obs": np.arange(rows, dtype=np.float32)[:, None],
                "action": np.zeros(rows, np.int64),
                "reward": np.ones(rows, np.float32),
                "state": np.zeros((rows, 5), np.float32),
            }
        )
    )
    error = np.zeros(rows, np.float32)
    error[3] = 100.0
    buffer.feedback(np.arange(rows), error)
    drawn = buffer.draw(200, np.random.default_rng(1))
    assert drawn is not None
    assert (drawn.ids == 3).mean() > 0.9
    assert drawn.columns["obs"][:, drawn.ids == 3][:, 0, 0].tolist() == [3, 4, 5, 6, 7, 8]
