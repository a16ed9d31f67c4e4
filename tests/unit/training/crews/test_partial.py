"""Mid-generation checkpoints change nothing while a generation goes well; a lost one goes on from the last."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from league.types import Earned, LineupTally, ReturnTally, Tally, VersionId
from orchestrator.catalog import Component
from orchestrator.contracts.generations import (
    GenerationOutcome,
    GenerationTask,
    PartialGeneration,
    PlannedOpponent,
    Topology,
)
from orchestrator.storage.artifacts import ArtifactStore, MissingArtifact
from tests.unit.training.generation_task import TASK
from workers.checkpoints import UnreadableCheckpoint, load
from workers.crews import call_timer
from workers.crews.local_generation import LocalCrews
from workers.crews.partial import KIND, add_outcomes, concerns, read_outcome
from workers.crews.task import Progress

RANDOM = PlannedOpponent(player="random", version="random", probability=0.5, bot="random")
SELF = PlannedOpponent(player="main", version="main:0", probability=0.5)
LONG = replace(TASK, opponents=(SELF, RANDOM), opening_share=0.0, checkpoint_seconds=1e-9, steps=8_000)
UPDATE_STEPS = 8 * 64
SPLIT = replace(LONG, topology=Topology.SPLIT, rollout_actors=2, tables=32)
ASYNCHRONOUS = replace(
    SPLIT, topology=Topology.ASYNCHRONOUS, algorithm=Component(id="impala", options={"rollout_steps": 8})
)
KEPT = replace(
    LONG, algorithm=Component(id="dqn", options={"rollout_steps": 8, "capacity": 1_000, "kept": True}), steps=4_000
)


class Lost(Exception):
    """The attempt's process has died."""


@pytest.fixture(autouse=True)
def short_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """One update a call, so that short generations have several partial checkpoints."""
    monkeypatch.setattr(call_timer, "CALL_SECONDS", 0.0)


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path / "artifacts"))


def attempt(task: GenerationTask, store: ArtifactStore, *, lost_after: int | None = None) -> list[PartialGeneration]:
    """The partial checkpoints of an attempt on a new crew, which is lost after so many of them."""
    found: list[PartialGeneration] = []

    def on_partial(partial: PartialGeneration) -> None:
        found.append(partial)
        if len(found) == lost_after:
            raise Lost

    if lost_after is None:
        finished(task, store, found)
        return found
    with pytest.raises(Lost):
        LocalCrews(store).run_generation(task, progress=lambda _: None, on_partial=on_partial)
    return found


def finished(
    task: GenerationTask,
    store: ArtifactStore,
    partials: list[PartialGeneration] | None = None,
    told: Callable[[Progress], None] = lambda _: None,
) -> GenerationOutcome:
    on_partial = None if partials is None else partials.append
    return LocalCrews(store).run_generation(task, progress=told, on_partial=on_partial)


def games(outcome: GenerationOutcome) -> int:
    return sum(tally.games for tally in outcome.tallies)


@pytest.mark.parametrize("task", [LONG, SPLIT, KEPT], ids=["fused", "split", "kept-buffer"])
def test_a_generation_that_goes_well_is_the_same_with_partial_checkpoints(
    task: GenerationTask, store: ArtifactStore
) -> None:
    partials: list[PartialGeneration] = []
    with_them, without = finished(task, store, partials), finished(task, store)
    assert len(partials) >= 2
    assert (with_them.checkpoint, with_them.tallies, with_them.steps) == (
        without.checkpoint,
        without.tallies,
        without.steps,
    )
    assert with_them.metrics.get("exact") == without.metrics.get("exact")


@pytest.mark.parametrize("task", [LONG, SPLIT, ASYNCHRONOUS, KEPT], ids=["fused", "split", "asynchronous", "kept"])
def test_a_lost_attempt_goes_on_and_everything_adds_up(task: GenerationTask, store: ArtifactStore) -> None:
    last = attempt(task, store, lost_after=2)[-1]
    so_far = read_outcome(store, last)
    told: list[Progress] = []
    whole = finished(replace(task, resume=last), store, told=told.append)
    updates = -(-task.steps // UPDATE_STEPS)
    assert 0 < last.updates < updates
    assert whole.steps == updates * UPDATE_STEPS, "no step is made twice, and none is missing"
    assert last.steps == so_far.steps == last.updates * UPDATE_STEPS
    assert load(store, last.checkpoint).steps == last.steps
    assert load(store, whole.checkpoint).steps == whole.steps
    assert told[0].steps > last.steps and told[-1].steps == whole.steps, "progress goes on, and does not start anew"
    assert whole.metrics["exact"] == 0.0

    rest = finished(replace(task, resume=last, checkpoint_seconds=None), store)
    if task is not ASYNCHRONOUS:  # what it learns depends on timing
        assert (rest.checkpoint, rest.tallies) == (whole.checkpoint, whole.tallies), "the same from the same place"
    assert games(whole) > games(so_far) > 0
    assert whole.metrics["games"] > so_far.metrics["games"]


def test_an_attempt_may_be_lost_again_and_again(store: ArtifactStore) -> None:
    first = attempt(LONG, store, lost_after=2)[-1]
    second = attempt(replace(LONG, resume=first), store, lost_after=2)[-1]
    assert second.updates > first.updates and second.steps > first.steps
    assert games(read_outcome(store, second)) > games(read_outcome(store, first))
    whole = finished(replace(LONG, resume=second), store)
    assert whole.steps == -(-LONG.steps // UPDATE_STEPS) * UPDATE_STEPS


def test_only_the_newest_partial_checkpoints_are_kept(store: ArtifactStore) -> None:
    partials: list[PartialGeneration] = []
    finished(LONG, store, partials)
    assert len(partials) > 2
    kept = {ref.sha256 for ref in store.stored() if f"/{KIND}/" in ref.uri}
    assert kept == {partials[-1].checkpoint.sha256, partials[-1].outcome.sha256}
    removed = store.collect(set(), timedelta(0))
    assert sum(f"/{KIND}/" in uri for uri in removed.uris) == 2, "garbage collection removes those that are left"


def test_a_partial_checkpoint_that_is_gone_is_named(store: ArtifactStore) -> None:
    last = attempt(LONG, store, lost_after=2)[-1]
    store.discard(last.checkpoint)
    with pytest.raises(MissingArtifact) as missing:
        finished(replace(LONG, resume=last), store)
    assert concerns(last, missing.value) and not concerns(None, missing.value)
    assert not concerns(last, MissingArtifact("file:///checkpoint/aa/other", "other"))


def test_an_outcome_that_another_release_wrote_is_named(store: ArtifactStore) -> None:
    ref = store.put(b'{"steps": 4000}', kind=KIND)
    partial = PartialGeneration(checkpoint=ref, outcome=ref, updates=1, steps=4_000)
    with pytest.raises(UnreadableCheckpoint) as unreadable:
        finished(replace(LONG, resume=partial), store)
    assert concerns(partial, unreadable.value)


def test_a_generation_without_the_setting_has_none(store: ArtifactStore) -> None:
    assert attempt(replace(LONG, checkpoint_seconds=None), store) == []
    assert attempt(replace(LONG, checkpoint_seconds=3600.0), store) == [], "it ends before one is due"


def test_outcomes_are_added_pair_by_pair(store: ArtifactStore) -> None:
    ref = store.put(b"weights", kind="checkpoint")
    me, a, b = (VersionId(name) for name in ("me", "a", "b"))
    lineup = LineupTally(learner=me, lineup=(me, a), opponent=None, seat=0, opponent_seat=None)

    def outcome(steps: int, tallies: Sequence[Tally], games: int, mean: float) -> GenerationOutcome:
        returns = ReturnTally(games=games, mean=mean, deviations=0.0)
        return GenerationOutcome(
            checkpoint=ref,
            steps=steps,
            tallies=list(tallies),
            lineups=[replace(lineup, returns=returns)],
            returns=returns,
            metrics={"loss": mean, "rows": 10.0, "return_mean": mean, "games": float(games), "sample_age_max": mean},
        )

    against_a = Tally(learner=me, opponent=a, seat=0, wins=2, draws=1, losses=3, earned=Earned(1.0, -1.0))
    against_b = Tally(learner=me, opponent=b, seat=1, wins=5)
    whole = add_outcomes(
        outcome(100, [against_a], 1, 4.0),
        outcome(300, [against_b, replace(against_a, losses=0)], 3, 8.0),
        {"rows", "games"},
    )
    assert whole.steps == 400
    assert whole.tallies == [
        replace(against_a, wins=4, draws=2, losses=3, earned=Earned(2.0, -2.0)),
        against_b,
    ]
    assert whole.returns is not None and (whole.returns.games, whole.returns.mean) == (4, 7.0)
    assert whole.lineups[0].returns == whole.returns
    assert whole.metrics == {
        "loss": 7.0, "rows": 20.0, "return_mean": 7.0, "games": 4.0, "sample_age_max": 8.0, "exact": 0.0
    }  # fmt: skip
