"""Crews in this process: no Ray, the same driver, errors where user code raised them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationOutcome, GenerationTask, Topology
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.algorithms.imitation.samples import centre_games, write
from tests.unit.training.generation_task import TASK
from tests.unit.training.own_algorithms import AnnealedCloning
from workers.crews.errors import BadTask, GenerationStopped
from workers.crews.local_generation import LocalCrews
from workers.crews.task import Progress
from workers.user_errors import UserCodeError

IMPALA = Component(id="impala", options={"rollout_steps": 8})
DQN = Component(id="dqn", options={"rollout_steps": 8, "capacity": 2_000, "minibatch": 32})


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path))


def run(crews: LocalCrews, task: GenerationTask) -> GenerationOutcome:
    return crews.run_generation(task, progress=lambda _: None)


def test_a_generation_reports_progress_and_is_repeatable(store: ArtifactStore) -> None:
    seen: list[Progress] = []
    first = LocalCrews(store).run_generation(TASK, progress=seen.append)
    assert 0 < first.steps == seen[-1].steps
    assert [each.steps for each in seen] == sorted(each.steps for each in seen) and len(seen) > 2
    crews = LocalCrews(store)
    assert run(crews, TASK).checkpoint == first.checkpoint
    second = replace(TASK, checkpoint=first.checkpoint, seed=12)
    warm = run(crews, second)
    assert warm.checkpoint == run(LocalCrews(store), second).checkpoint != first.checkpoint


@pytest.mark.parametrize(
    "task",
    [
        replace(TASK, topology=Topology.SPLIT, rollout_actors=2),
        replace(TASK, algorithm=IMPALA, rollout_actors=2),
        replace(TASK, algorithm=DQN, steps=1_000),
    ],
    ids=["split", "asynchronous", "replay"],
)
def test_every_topology_trains(store: ArtifactStore, task: GenerationTask) -> None:
    crews = LocalCrews(store)
    first = run(crews, task)
    second = run(crews, replace(task, checkpoint=first.checkpoint, seed=12))
    assert second.steps > 0 and second.checkpoint != first.checkpoint


@pytest.mark.parametrize(
    ("task", "field"),
    [
        (replace(TASK, rollout_actors=2), "rollout_actors"),
        (replace(TASK, rollout_actors=2, trainers=2, topology=Topology.SPLIT), "trainers"),
    ],
)
def test_processes_that_learn_together_are_refused(store: ArtifactStore, task: GenerationTask, field: str) -> None:
    with pytest.raises(BadTask, match=rf"generation.{field} is 2: .* need Ray .*; in one process {field} must be 1"):
        run(LocalCrews(store), task)


def test_a_stop_ends_the_generation_and_the_crew_can_go_on(store: ArtifactStore) -> None:
    crews, reports = LocalCrews(store), 0

    def count(now: Progress) -> None:
        nonlocal reports
        reports += 1

    with pytest.raises(GenerationStopped):
        crews.run_generation(TASK, progress=count, should_stop=lambda: reports >= 2)
    assert reports == 2
    assert run(crews, TASK).checkpoint == run(LocalCrews(store), TASK).checkpoint


def test_an_error_keeps_the_users_own_frames(store: ArtifactStore) -> None:
    game = Component(id="tests.unit.training.broken:RaisingGame")
    with pytest.raises(UserCodeError, match="RulesBroken: gravity in move 3") as raised:
        run(LocalCrews(store), replace(TASK, game=game))
    cause = raised.value.__cause__
    assert cause is not None and cause.__traceback__ is not None
    last = cause.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    assert last.tb_frame.f_code.co_name == "advance" and last.tb_frame.f_locals["self"].steps == 3


def test_a_schedule_follows_the_rows_learnt_from_where_no_game_is_played(store: ArtifactStore, tmp_path: Path) -> None:
    data = write(tmp_path / "games.npz", centre_games(20))
    AnnealedCloning.called.clear()
    cloning = Component(id="tests.unit.training.own_algorithms:AnnealedCloning", options={"dataset": [data]})
    per_update = 16 * TASK.tables
    first = run(LocalCrews(store), replace(TASK, algorithm=cloning, steps=3 * per_update))
    run(LocalCrews(store), replace(TASK, algorithm=cloning, steps=per_update, checkpoint=first.checkpoint))
    assert AnnealedCloning.called == [0, per_update, 2 * per_update, 3 * per_update]


def test_nothing_imports_ray() -> None:
    import subprocess

    code = "import sys, workers.crews.local_generation; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
