"""Models that decide what arrives in one turn of the loop as one batch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from orchestrator.catalog import Component
from tests.unit.agents.sessions import turns
from workers.games.protocol import GameSpec
from workers.gateway.models import MOST_ROWS, BatchedModel
from workers.gateway.quick import QuickPerceptron
from workers.inference.policy import Policy
from workers.models.contract import build_model

SPEC = GameSpec(id="line", seats=2, observation_shape=(3,), actions=4, max_steps=50)
Row = dict[str, NDArray[Any]]


class Recorded:
    """An actor that remembers the sizes of its batches."""

    state_shapes: dict[str, tuple[int, ...]] = {"state": (2,)}  # noqa: RUF012
    placed = False

    def __init__(self, factor: int = 1) -> None:
        self.sizes: list[int] = []
        self.factor = factor

    def act(self, rows: Any, draws: Any, explore: Any = 0.0) -> Row:
        self.sizes.append(len(rows["obs"]))
        if (rows["obs"] < 0).any():
            raise ValueError("a negative number")
        return {"action": rows["obs"][:, 0].astype(np.int64) * self.factor, "state": rows["obs"][:, :2]}


def row(number: float) -> Row:
    return {"obs": np.array([[number, 0, 0]], np.float32), "legal": np.ones((1, 4), np.bool_)}


def policy(options: dict[str, Any] | None = None, model: str = "mlp") -> Policy:
    component = Component(id=model, options=options or {})
    return Policy(build_model(component, SPEC, seed=3), component)


async def test_rows_of_one_turn_are_one_batch() -> None:
    actor, answers = Recorded(), []
    model = BatchedModel(actor, SPEC, "v1", update=5)
    for number in range(3):
        model.submit(row(number), answers.append)
    assert answers == []
    await turns(1)
    assert [int(answer["action"][0]) for answer in answers] == [0, 1, 2] and actor.sizes == [3]
    assert answers[1]["state"].tolist() == [[1, 0]] and answers[1]["state"].base is None
    model.submit(row(7), answers.append)
    await turns(1)
    assert actor.sizes == [3, 1] and (model.batches, model.rows) == (2, 4)


async def test_a_swap_loses_no_row() -> None:
    answers: list[Any] = []
    model = BatchedModel(Recorded(), SPEC, "v1", update=1)
    model.submit(row(1), answers.append)
    model.swap(Recorded(factor=2), "v2", 2)
    await turns(1)
    model.submit(row(1), answers.append)
    await turns(1)
    assert [int(answer["action"][0]) for answer in answers] == [2, 2] and (model.version, model.update) == ("v2", 2)


async def test_a_row_that_fails_and_a_caller_that_fails_harm_no_other() -> None:
    answers: list[Any] = []

    def broken(answer: Any) -> None:
        raise KeyError("mine")

    model = BatchedModel(Recorded(), SPEC, "v1")
    tellers: list[Callable[[Any], None]] = [answers.append, broken, answers.append, answers.append]
    for number, tell in zip((1, 2, -3, 4), tellers, strict=True):
        model.submit(row(number), tell)
    await turns(1)
    assert [type(answer) for answer in answers] == [dict, ValueError, dict]
    assert int(answers[2]["action"][0]) == 4


async def test_many_rows_are_several_batches() -> None:
    actor, answers = Recorded(), []
    model = BatchedModel(actor, SPEC, "v1")
    for number in range(MOST_ROWS + 1):
        model.submit(row(number), answers.append)
    await turns(1)
    assert actor.sizes == [MOST_ROWS, 1] and len(answers) == MOST_ROWS + 1


async def test_rows_that_need_their_mates_are_refused() -> None:
    actor = Recorded()
    actor.placed = True
    with pytest.raises(ValueError, match="depend on those of its mates"):
        BatchedModel(actor, SPEC, "v1")


@pytest.mark.parametrize("options", [{}, {"hidden": [16], "activation": "tanh"}, {"normalise": True}])
@pytest.mark.parametrize("rows", [1, 5])
def test_the_quick_path_decides_as_the_policy_does(options: dict[str, Any], rows: int) -> None:
    slow = policy(options)
    with torch.no_grad():
        for parameter in slow.model.parameters():
            parameter.mul_(1.5)
        for name, buffer in slow.model.named_buffers():
            buffer.add_(0.3 if name == "mean" else 0.5)
    assert QuickPerceptron.fits(slow)
    quick, rng = QuickPerceptron(slow), np.random.default_rng(1)
    for _ in range(20):
        legal = rng.random((rows, 4)) < 0.6
        legal[:, 1] = True
        shown = {"obs": rng.normal(size=(rows, 3)).astype(np.float32), "legal": legal}
        for draws in (None, rng.random(rows, dtype=np.float32), np.zeros(rows, np.float32)):
            expected, found = slow.act(shown, draws), quick.act(shown, draws)
            assert (found["action"] == expected["action"]).all()
            assert found.keys() == expected.keys()
            for name in ("log_prob", "value"):
                assert np.allclose(found[name], expected[name], atol=1e-5) and found[name].dtype == np.float32


def test_weights_that_are_not_finite_are_refused() -> None:
    broken = policy()
    with torch.no_grad():
        broken.model.heads.bias[1] = float("nan")  # type: ignore[union-attr, index]
    with pytest.raises(ArithmeticError, match="not finite"):
        QuickPerceptron(broken).act(row(1), np.zeros(1, np.float32))


def test_large_layers_are_left_to_torch() -> None:
    assert QuickPerceptron(policy({"hidden": [1024, 1024]})).most_rows == 0
    assert QuickPerceptron(policy()).most_rows == 16


def test_only_perceptrons_of_plain_observations_are_quick() -> None:
    assert not QuickPerceptron.fits(policy(model="gru"))
    assert not QuickPerceptron.fits(Recorded())
    component = Component(id="mlp")
    for spec in (
        GameSpec(id="g", seats=1, observation=SPEC.action, actions=4, max_steps=9),
        GameSpec(id="g", seats=1, observation_shape=(3,), action=SPEC.observation, max_steps=9),
    ):
        assert not QuickPerceptron.fits(Policy(build_model(component, spec), component))


async def test_weights_that_changed_in_place_are_read_again_by_a_swap() -> None:
    actor, answers = policy(), []
    model = BatchedModel(actor, SPEC, "v1", greedy=True)
    with torch.no_grad():
        actor.model.heads.bias[2] = 100.0  # type: ignore[union-attr, index]
    model.swap(actor, update=2)
    model.submit(row(1), answers.append)
    await turns(1)
    assert answers[0]["action"].tolist() == [2]


async def test_draws_come_from_the_seed_and_greedy_needs_none() -> None:
    async def played(**options: Any) -> list[int]:
        model, answers = BatchedModel(policy(), SPEC, "v1", **options), []
        for _ in range(20):
            model.submit(row(1), answers.append)
            await asyncio.sleep(0)
        return [int(answer["action"][0]) for answer in answers]

    assert await played(seed=1) == await played(seed=1) != await played(seed=2)
    assert len(set(await played(greedy=True))) == 1
