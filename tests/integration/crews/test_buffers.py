"""A player's buffer goes with the player: between crews, past closed ones, and into the checkpoint."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationOutcome, GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.learning.test_exact_resume import DQN
from workers.crews import pool as pool_module
from workers.crews.generation import run_generation
from workers.crews.plan import crew_plan
from workers.crews.pool import CrewPool

pytestmark = pytest.mark.usefixtures("local_ray")
SOFT = replace(DQN, algorithm=Component(id=DQN.algorithm.id, options={**DQN.algorithm.options, "kept": False}))


@pytest.fixture
def crews(store: ArtifactStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[CrewPool]:
    monkeypatch.setattr(pool_module, "BUFFER_PATIENCE_SECONDS", 0.0)
    pool = CrewPool(store, max_idle=2)
    yield pool
    pool.close()


def run(task: GenerationTask, store: ArtifactStore, crews: CrewPool) -> GenerationOutcome:
    return run_generation(task, store=store, progress=lambda _: None, should_stop=lambda: False, crews=crews)


def test_a_buffer_moves_with_its_player_to_another_crew_and_past_a_closed_one(
    store: ArtifactStore, crews: CrewPool
) -> None:
    first = run(SOFT, store, crews)
    assert first.metrics["exact"] == 0.0
    second = replace(SOFT, seed=4, checkpoint=first.checkpoint)
    expected = run(second, store, crews)  # on the same crew
    plan = crew_plan(SOFT).on_cluster(0.0)
    with crews.crew(plan, replace(SOFT, player="other"), lambda: False) as busy:
        assert SOFT.player in busy.buffered
        third = replace(SOFT, seed=5, checkpoint=expected.checkpoint)
        moved = run(third, store, crews)  # on a second crew, while the first is busy
        assert SOFT.player not in busy.buffered
    for crew in crews._remove_all_idle():
        crews._park(crew)
    parked = run(replace(SOFT, seed=6, checkpoint=moved.checkpoint), store, crews)

    alone = CrewPool(store)
    again = run(replace(SOFT, player="twin"), store, alone)
    assert again.checkpoint == first.checkpoint
    for number, result in enumerate((expected, moved, parked), start=4):
        again = run(replace(SOFT, player="twin", seed=number, checkpoint=again.checkpoint), store, alone)
        assert again.checkpoint == result.checkpoint
    alone.close()


def test_a_kept_buffer_of_two_processes_is_in_the_checkpoint(store: ArtifactStore) -> None:
    task = replace(DQN, rollout_actors=2, steps=256)
    warm, cold = CrewPool(store), CrewPool(store)
    first = run(task, store, warm)
    assert first.metrics["exact"] == 1.0
    second = replace(task, seed=4, checkpoint=first.checkpoint)
    assert run(second, store, warm).checkpoint == run(second, store, cold).checkpoint
    warm.close()
    cold.close()
