"""Returns of a generation: of both sides beside the results, and of games of one seat by themselves."""

from dataclasses import replace

import pytest

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationOutcome, GenerationTask, PlannedOpponent
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.generation_task import TASK
from workers.crews.generation import run_generation

pytestmark = pytest.mark.usefixtures("local_ray")


def run(task: GenerationTask, store: ArtifactStore) -> GenerationOutcome:
    return run_generation(task, store=store, progress=lambda _: None, should_stop=lambda: False)


def test_a_game_of_one_seat_brings_the_returns_of_all_processes(store: ArtifactStore) -> None:
    cart_pole = Component(id="gymnasium", options={"env": "CartPole-v1"})
    result = run(replace(TASK, game=cart_pole, tables=8, steps=2_000, rollout_actors=2), store)
    assert list(result.tallies) == []
    assert result.returns is not None
    assert result.returns.games == result.metrics["games"] > 16
    assert result.returns.mean == pytest.approx(result.metrics["return_mean"])
    assert result.returns.deviations > 0


def test_tallies_say_what_both_sides_earned(store: ArtifactStore) -> None:
    random = PlannedOpponent(player="random", version="random", probability=1.0, bot="random")
    task = replace(TASK, game=Component(id="kuhn_poker"), opponents=(random,), rollout_actors=2)
    result = run(task, store)
    assert result.returns is None
    earned = [tally.earned for tally in result.tallies if tally.earned is not None]
    assert len(earned) == 2, "one for each seat"
    assert all(each.own == -each.other for each in earned)
    games = sum(tally.games for tally in result.tallies)
    assert sum(each.own for each in earned) / games == pytest.approx(result.metrics["return_mean"])
