"""Crews that learn from a data set: no game is played, and the steps are rows learnt from."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationOutcome, GenerationTask, Topology
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code.import_folders import NotImportable
from tests.unit.algorithms.imitation.samples import centre_games, write
from tests.unit.training.generation_task import TASK
from workers.crews.generation import run_generation
from workers.crews.pool import CrewPool
from workers.crews.task import Progress

pytestmark = pytest.mark.usefixtures("local_ray")
OPTIONS = {"minibatch": 256, "rollout_steps": 16, "learning_rate": 0.01, "validation_every": 4}


def run(task: GenerationTask, store: ArtifactStore, pool: CrewPool, seen: list[Progress]) -> GenerationOutcome:
    return run_generation(task, store=store, progress=seen.append, should_stop=lambda: False, crews=pool)


def test_a_data_set_is_learnt_by_every_kind_of_crew(store: ArtifactStore, tmp_path: Path) -> None:
    folder = tmp_path / "imports"
    folder.mkdir()
    write(folder / "games.npz", centre_games(40))
    task = replace(
        TASK, algorithm=Component(id="bc", options={**OPTIONS, "dataset": ["*.npz"]}), steps=8_192, player="main"
    )
    split = replace(task, topology=Topology.SPLIT)
    pool = CrewPool(store, data_folders=[folder])
    try:
        for each in (task, split, replace(task, rollout_actors=2, tables=32)):
            seen: list[Progress] = []
            result = run(each, store, pool, seen)
            assert result.steps == 8_192 == seen[-1].steps
            assert result.metrics["rows"] == pytest.approx(8_192, rel=0.01)
            assert (list(result.tallies), result.metrics["games"]) == ([], 0.0)
            assert result.metrics["validation_accuracy"] > 0.3
        outside = replace(
            task, algorithm=Component(id="bc", options={"dataset": [str(tmp_path / "artifacts" / "*.npz")]})
        )
        with pytest.raises(NotImportable, match="LANISTA_IMPORT_FOLDERS"):
            run(outside, store, pool, [])
    finally:
        pool.close()
