"""The activity that trains a generation: where an attempt begins, and what it says when it is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from league.types import CheckpointRef
from orchestrator.contracts.generations import GenerationOutcome, GenerationPlan, PartialGeneration
from orchestrator.storage.artifacts import ArtifactStore, MissingArtifact
from tests.unit.training.generation_task import TASK
from workers.activities import training
from workers.activities.training import TrainingActivities
from workers.crews.errors import CrewLost
from workers.crews.pool import CrewPool
from workers.crews.task import Progress

LEARNER, OUTCOME = (CheckpointRef(uri=f"partial/{name}", sha256=name * 64, size=7) for name in ("a", "b"))
RESUME = PartialGeneration(checkpoint=LEARNER, outcome=OUTCOME, updates=3, steps=30_000)
PLAN = GenerationPlan(
    **{name: getattr(TASK, name) for name in TASK.__dataclass_fields__} | {"resume": RESUME},
    trial="t",
    player_name="main",
    generation=1,
    attempt=1,
    decision=1,
    stall_seconds=60,
)

Run = Callable[[GenerationPlan, Callable[[Progress], None]], GenerationOutcome]


class AnyCrew(CrewPool):
    def fitting(self, plan: object) -> int:
        return 1


@pytest.fixture
def train(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Run], GenerationOutcome]:
    """Runs the activity, whose generations are made up."""

    store = ArtifactStore(str(tmp_path))

    def activity(run: Run) -> GenerationOutcome:
        def run_generation(
            plan: GenerationPlan, *, progress: Callable[[Progress], None], **_: Any
        ) -> GenerationOutcome:
            return run(plan, progress)

        monkeypatch.setattr(training, "run_generation", run_generation)
        activities = TrainingActivities(store, AnyCrew(store))
        return ActivityEnvironment().run(activities.train_generation, PLAN)

    return activity


def test_what_was_done_before_an_attempt_is_not_lost_with_it(train: Callable[[Run], GenerationOutcome]) -> None:
    def lost(plan: GenerationPlan, progress: Callable[[Progress], None]) -> GenerationOutcome:
        progress(Progress(steps=31_000, target=40_000, seconds=1.0, metrics={}, earlier_steps=30_000))
        raise CrewLost("an actor died")

    with pytest.raises(ApplicationError, match="an actor died") as caught:
        train(lost)
    assert caught.value.details == ({"steps": 31_000, "partial": asdict(RESUME)},), "1,000 steps are lost"


def test_without_its_partial_checkpoint_the_generation_starts_again(train: Callable[[Run], GenerationOutcome]) -> None:
    begun: list[PartialGeneration | None] = []

    def run(plan: GenerationPlan, progress: Callable[[Progress], None]) -> GenerationOutcome:
        begun.append(plan.resume)
        if plan.resume is not None:
            raise MissingArtifact(LEARNER.uri, LEARNER.sha256)
        return GenerationOutcome(checkpoint=LEARNER, steps=4_000, tallies=[], metrics={})

    assert train(run).steps == 4_000
    assert begun == [RESUME, None]


def test_a_clock_that_is_set_back_does_not_make_a_generation_end_before_it_began(
    train: Callable[[Run], GenerationOutcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(plan: GenerationPlan, progress: Callable[[Progress], None]) -> GenerationOutcome:
        monkeypatch.setattr("time.time", lambda: 1_000.0)
        return GenerationOutcome(checkpoint=LEARNER, steps=4_000, tallies=[], metrics={})

    monkeypatch.setattr("time.time", lambda: 1_060.0)
    outcome = train(run)
    assert 1_060.0 == outcome.started_at <= outcome.finished_at < 1_090.0


def test_all_is_lost_of_an_attempt_that_started_again(train: Callable[[Run], GenerationOutcome]) -> None:
    def run(plan: GenerationPlan, progress: Callable[[Progress], None]) -> GenerationOutcome:
        if plan.resume is not None:
            raise MissingArtifact(OUTCOME.uri, OUTCOME.sha256)
        progress(Progress(steps=1_000, target=40_000, seconds=1.0, metrics={}))
        raise CrewLost("an actor died")

    with pytest.raises(ApplicationError, match="an actor died") as caught:
        train(run)
    assert caught.value.details == ({"steps": 1_000},)


def test_another_missing_checkpoint_is_an_error(train: Callable[[Run], GenerationOutcome]) -> None:
    def run(plan: GenerationPlan, progress: Callable[[Progress], None]) -> GenerationOutcome:
        raise MissingArtifact("checkpoint/c", "c" * 64)

    with pytest.raises(ApplicationError) as caught:
        train(run)
    assert caught.value.type == "damaged_checkpoint"
