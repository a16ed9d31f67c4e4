"""Generations on real Ray actors: exact, stoppable, counted, and honest about lost crews."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import ray
import torch

from league.types import CheckpointRef
from orchestrator.catalog import CatalogError, Component
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.generations import (
    GenerationOutcome,
    GenerationTask,
    PartialGeneration,
    PlannedOpponent,
    ProcessResources,
    Topology,
)
from orchestrator.storage.artifacts import ArtifactStore, MissingArtifact
from tests.unit.training.generation_task import TASK
from workers.activities.failures import failure_kind, failure_message
from workers.checkpoints import load
from workers.crews import call_timer
from workers.crews import crew as crew_module
from workers.crews.errors import BadTask, CrewLost, CrewUnavailable, GenerationStopped
from workers.crews.generation import run_generation
from workers.crews.hosts.cpu_ledger import CpuLedger
from workers.crews.partial import read_outcome
from workers.crews.pool import CrewPool
from workers.crews.task import Progress
from workers.user_errors import UserCodeError

pytestmark = pytest.mark.usefixtures("local_ray")


@pytest.fixture
def crews(store: ArtifactStore) -> Iterator[CrewPool]:
    pool = CrewPool(store)
    yield pool
    pool.close()


def run(task: GenerationTask, store: ArtifactStore, crews: CrewPool | None = None) -> GenerationOutcome:
    return run_generation(task, store=store, progress=lambda _: None, should_stop=lambda: False, crews=crews)


def opponent(ref: CheckpointRef | None, name: str, probability: float, bot: str | None = None) -> PlannedOpponent:
    return PlannedOpponent(player=name, version=name, probability=probability, checkpoint=ref, bot=bot)


@pytest.mark.parametrize(
    "task",
    [
        TASK,
        replace(TASK, topology=Topology.SPLIT, algorithm=Component(id="vtrace", options={"rollout_steps": 8})),
        replace(TASK, model=Component(id="gru", options={"hidden": 8, "state": 8})),
    ],
    ids=["fused", "split", "recurrent"],
)
def test_two_generations_are_exact_whether_or_not_the_crew_dies_between(
    task: GenerationTask, store: ArtifactStore, crews: CrewPool
) -> None:
    first = run(task, store, crews)
    past = opponent(first.checkpoint, "past", 0.5)
    second = replace(task, seed=12, checkpoint=first.checkpoint, opponents=(past, opponent(None, "self", 0.5)))
    warm = run(second, store, crews)
    crews.close()
    cold = run(second, store, crews)
    assert warm.checkpoint == cold.checkpoint
    assert warm.tallies == cold.tallies
    assert warm.checkpoint != first.checkpoint
    assert load(store, warm.checkpoint).steps == first.steps + warm.steps
    assert run(task, store, crews).checkpoint == first.checkpoint


def test_players_that_differ_in_hyperparameters_share_a_warm_crew(store: ArtifactStore, crews: CrewPool) -> None:
    first = run(TASK, store, crews)
    (crew,) = crews._idle
    faster = Component(id="ppo", options={"rollout_steps": 4, "minibatch": 128, "learning_rate": 0.01})
    other = Component(id="vtrace", options={"rollout_steps": 8})
    for algorithm in (faster, other, TASK.algorithm):
        task = replace(TASK, algorithm=algorithm, seed=13, checkpoint=first.checkpoint)
        assert run(task, store, crews).checkpoint == run(task, store).checkpoint, "as on a crew of its own"
        assert crews._idle == [crew]


def test_two_processes_learn_as_one(store: ArtifactStore, crews: CrewPool) -> None:
    task = replace(TASK, rollout_actors=2, opponents=(opponent(None, "random", 1.0, bot="random"),))
    one, two = run(task, store, crews), run(task, store, crews)
    assert one.checkpoint == two.checkpoint
    assert one.steps == 4_096
    assert sum(tally.games for tally in one.tallies) > 0
    assert {tally.seat for tally in one.tallies} == {0, 1}


def test_two_trainers_share_the_batches(store: ArtifactStore, crews: CrewPool) -> None:
    task = replace(TASK, tables=32, rollout_actors=2, trainers=2, topology=Topology.SPLIT)
    result = run(task, store, crews)
    assert 3_000 < result.steps < 4_096  # random opening moves are not counted
    assert result.metrics["sample_age"] == 1.0
    assert run(task, store, crews).checkpoint == result.checkpoint


def test_tallies_name_each_opponent_and_seat_and_progress_is_told(store: ArtifactStore, crews: CrewPool) -> None:
    start = run(TASK, store, crews)
    told: list[Progress] = []
    mixture = (
        opponent(start.checkpoint, "v1", 0.25),
        opponent(None, "random", 0.5, bot="random"),
        opponent(None, "live", 0.25),
    )
    task = replace(TASK, checkpoint=start.checkpoint, opponents=mixture, version="v2", steps=20_000)
    result = run_generation(task, store=store, progress=told.append, should_stop=lambda: False, crews=crews)
    assert {(tally.opponent, tally.seat) for tally in result.tallies} == {
        ("v1", 0), ("v1", 1), ("random", 0), ("random", 1)
    }  # fmt: skip
    assert all(tally.learner == "v2" for tally in result.tallies)
    games = {name: sum(t.games for t in result.tallies if t.opponent == name) for name in ("v1", "random")}
    assert games["random"] > 1.5 * games["v1"] > 0
    assert told[-1].steps == result.steps >= 17_000  # of 20,000, without random opening moves
    assert [progress.steps for progress in told] == sorted(progress.steps for progress in told)
    assert {"entropy", "kl", "explained_variance", "steps_per_second", "games"} <= result.metrics.keys()


@pytest.mark.parametrize("topology", [Topology.FUSED, Topology.SPLIT])
def test_metrics_are_means_over_all_updates_and_processes(store: ArtifactStore, topology: Topology) -> None:
    algorithm = Component(id="tests.integration.crews.slow:NumberedUpdates", options={"rollout_steps": 8})
    trainers = 2 if topology is Topology.SPLIT else 1
    task = replace(
        TASK, algorithm=algorithm, rollout_actors=2, trainers=trainers, topology=topology, steps=10 * 8 * 128
    )
    told: list[Progress] = []
    result = run_generation(task, store=store, progress=told.append, should_stop=lambda: False)
    assert result.metrics["updates"] == 2 * 10, "ten updates of two processes"
    assert result.metrics["number"] == pytest.approx((1 + 10) / 2, abs=0.3), "the mean, not the last one's 10"
    assert told[-1].metrics["updates"] == 20


def test_a_stop_ends_the_generation_and_spares_the_crew(
    store: ArtifactStore, crews: CrewPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew_module, "STOP_GRACE_SECONDS", 60.0)
    asked_at: list[float] = []

    def progress(told: Progress) -> None:
        if told.steps > 0 and not asked_at:
            asked_at.append(time.monotonic())

    with pytest.raises(GenerationStopped):
        run_generation(
            replace(TASK, steps=10**9),
            store=store,
            progress=progress,
            should_stop=lambda: bool(asked_at),
            crews=crews,
        )
    crew = crews._idle[0]
    assert crew.has_actors and crew.loaded_sha256 is None
    assert run(TASK, store, crews).checkpoint == run(TASK, store).checkpoint


@pytest.mark.parametrize(("processes", "topology"), [(2, "fused"), (1, "split")])
def test_a_stop_ends_a_long_update_between_two_gradient_steps(
    processes: int,
    topology: Topology,
    store: ArtifactStore,
    crews: CrewPool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The crew is kept, with the buffers that it holds, and runs the next task."""
    monkeypatch.setattr(crew_module, "STOP_GRACE_SECONDS", 60.0)
    begun = tmp_path / "begun"
    task = replace(TASK, rollout_actors=processes, topology=topology, tables=8)
    long = Component(id="tests.integration.crews.slow:LongUpdates", options={"begun": str(begun), "rollout_steps": 2})
    with pytest.raises(GenerationStopped, match="was kept"):
        run_generation(
            replace(task, algorithm=long, steps=10**9),
            store=store,
            progress=lambda _: None,
            should_stop=begun.exists,
            crews=crews,
        )
    (crew,) = crews._idle
    assert run(task, store, crews).steps > 0
    assert crews._idle == [crew]


def test_a_crew_that_does_not_stop_in_time_is_ended(store: ArtifactStore, crews: CrewPool, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    slow = Component(id="tests.integration.crews.slow:SlowGame", options={"begun": str(begun)})
    with pytest.raises(GenerationStopped, match="was killed"):
        run_generation(
            replace(TASK, game=slow, tables=1, steps=10**9),
            store=store,
            progress=lambda _: None,
            should_stop=begun.exists,
            crews=crews,
        )
    assert crews._idle == []


@pytest.mark.parametrize(("actors", "sent"), [(1, signal.SIGKILL), (2, signal.SIGKILL), (2, signal.SIGSTOP)])
def test_an_actor_that_dies_or_stands_still_is_a_lost_crew(
    actors: int, sent: signal.Signals, store: ArtifactStore, crews: CrewPool
) -> None:
    task = replace(TASK, rollout_actors=actors)
    expected = run(task, store, crews).checkpoint
    pid = ray.get(crews._idle[0]._actors[-1].pid.remote())

    def kill_once(told: Progress) -> None:
        if told.steps < 20_000:
            with suppress(ProcessLookupError):  # progress may be told once more before the loss is noticed
                os.kill(pid, sent)

    with pytest.raises(CrewLost):
        run_generation(
            replace(task, steps=10**9), store=store, progress=kill_once, should_stop=lambda: False, crews=crews
        )
    assert run(task, store, crews).checkpoint == expected


def test_an_error_of_the_task_keeps_its_type(store: ArtifactStore, crews: CrewPool) -> None:
    lost = CheckpointRef(uri=f"checkpoint/aa/{'a' * 64}", sha256="a" * 64, size=1)
    with pytest.raises(MissingArtifact):
        run(replace(TASK, checkpoint=lost), store, crews)


def test_a_crew_larger_than_the_cluster_is_refused(store: ArtifactStore) -> None:
    with pytest.raises(CrewUnavailable, match="needs 40 CPUs"):
        run(replace(TASK, rollout_actors=40), store)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_processes_are_placed_with_parts_of_the_gpus_that_ray_has(store: ArtifactStore) -> None:
    """Ray has two GPUs by declaration only, so that a process that got its part of one finds that there is none."""

    def with_gpus(gpus: float) -> GenerationTask:
        return replace(TASK, rollout_actors=2, resources=ProcessResources(device="cuda", gpus=gpus, cpus=0.5))

    with pytest.raises(BadTask, match="sees no GPU"):
        run(with_gpus(0.5), store)
    with pytest.raises(CrewUnavailable, match=r"needs 3 GPUs .* Ray has 2"):
        run(with_gpus(1.5), store)


def test_memory_that_ray_does_not_have_is_refused(store: ArtifactStore) -> None:
    with pytest.raises(CrewUnavailable, match=r"needs 1e\+08 MB .*, Ray has"):
        run(replace(TASK, resources=ProcessResources(memory_mb=100_000_000)), store)


@pytest.mark.parametrize("topology", [Topology.FUSED, Topology.SPLIT])
def test_games_that_are_played_out_are_progress(store: ArtifactStore, topology: Topology) -> None:
    told: list[Progress] = []
    task = replace(
        TASK,
        game=Component(id="tests.integration.crews.slow:LongGame"),
        algorithm=Component(id="vtrace" if topology is Topology.SPLIT else "ppo", options={"rollout_steps": 2}),
        opponents=(opponent(None, "random", 1.0, bot="random"),),
        steps=1,
        topology=topology,
    )
    result = run_generation(task, store=store, progress=told.append, should_stop=lambda: False)
    played_out = [progress.played_out for progress in told]
    assert played_out[0] == 0 and len(set(played_out)) >= 3, "each call on the way to the end is told"
    assert played_out == sorted(played_out)
    assert told[-1].steps == result.steps, "what is played out is not learnt from, and not counted"


@pytest.mark.parametrize("topology", [Topology.FUSED, Topology.SPLIT])
def test_a_users_game_that_cannot_be_made_is_bad_input(
    store: ArtifactStore, crews: CrewPool, topology: Topology
) -> None:
    task = replace(TASK, game=Component(id="tests.integration.crews.slow:BrokenGame"), topology=topology)
    with pytest.raises(BadTask, match=r"KeyError: .*the board's colour") as raised:
        run(task, store, crews)
    assert failure_kind(raised.value) is Failure.BAD_INPUT
    assert "slow.py" in failure_message(raised.value), "the user sees the line of the user's own code"
    assert crews._idle == []


def test_a_game_that_does_not_import_is_bad_input(store: ArtifactStore) -> None:
    with pytest.raises(CatalogError) as raised:
        run(replace(TASK, game=Component(id="tests.integration.crews.slow:Nowhere")), store)
    assert failure_kind(raised.value) is Failure.BAD_INPUT


def test_an_error_that_cannot_travel_is_no_lost_crew(store: ArtifactStore) -> None:
    with pytest.raises(UserCodeError, match="OddError: odd") as raised:
        run(replace(TASK, game=Component(id="tests.integration.crews.slow:OddGame")), store)
    assert failure_kind(raised.value) is Failure.USER_CODE
    assert 'raise OddError("odd", "indeed")' in failure_message(raised.value)


def test_a_crew_waits_for_the_cpus_of_another_drivers_idle_crew(store: ArtifactStore) -> None:
    """Two pools know nothing of each other, as two train workers do not."""
    whole = replace(TASK, rollout_actors=4, steps=2_000)
    ours, theirs = CrewPool(store, CpuLedger(lambda: 4)), CrewPool(store, CpuLedger(lambda: 4))
    waited: list[float] = []

    def wait(reason: str) -> None:
        assert reason
        waited.append(time.monotonic())
        if waited[-1] - waited[0] > 1:
            ours.close()

    try:
        run(whole, store, ours)
        run_generation(
            replace(TASK, rollout_actors=2, tables=32),
            store=store,
            progress=lambda _: None,
            should_stop=lambda: False,
            on_waiting=wait,
            crews=theirs,
        )
        assert len(waited) > 3, "told all the while that this is no standstill"
    finally:
        ours.close()
        theirs.close()
    assert ray.cluster_resources()["CPU"] == 4


def test_a_wait_for_cpus_can_be_stopped(store: ArtifactStore, crews: CrewPool) -> None:
    run(replace(TASK, rollout_actors=4, steps=2_000), store, crews)
    waited: list[None] = []
    with pytest.raises(GenerationStopped, match="waited for CPUs"):
        run_generation(
            replace(TASK, tables=32),
            store=store,
            progress=lambda _: None,
            should_stop=lambda: len(waited) > 5,
            on_waiting=lambda _: waited.append(None),
        )


def test_a_crew_killed_in_a_long_generation_goes_on_from_its_last_partial_checkpoint(
    store: ArtifactStore, crews: CrewPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The activity names it in its heartbeats; the next attempt gets it from the workflow."""
    monkeypatch.setattr(call_timer, "CALL_SECONDS", 0.0)
    mixture = (opponent(None, "random", 0.5, bot="random"), opponent(None, "live", 0.5))
    task = replace(
        TASK, rollout_actors=2, opponents=mixture, opening_share=0.0, steps=60 * 1024, checkpoint_seconds=0.05
    )
    partials: list[PartialGeneration] = []
    killed: list[int] = []

    def kill_after_two(now: Progress) -> None:
        """Once: the driver may hear of more progress before it notices the death."""
        if not killed and len(partials) >= 2 and now.steps > partials[-1].steps:
            (crew,) = crews._lent
            killed.append(ray.get(crew._actors[-1].pid.remote()))
            os.kill(killed[0], signal.SIGKILL)

    with pytest.raises(CrewLost):
        run_generation(
            task,
            store=store,
            progress=kill_after_two,
            should_stop=lambda: False,
            crews=crews,
            on_partial=partials.append,
        )
    last = partials[-1]
    told: list[Progress] = []
    whole = run_generation(
        replace(task, resume=last), store=store, progress=told.append, should_stop=lambda: False, crews=crews
    )
    assert 0 < last.steps < whole.steps == task.steps == load(store, whole.checkpoint).steps
    assert told[0].steps > last.steps, "it started at the partial checkpoint"
    before, games = read_outcome(store, last).metrics["games"], whole.metrics["games"]
    assert games > before > 0
    assert sum(tally.games for tally in whole.tallies) > sum(t.games for t in read_outcome(store, last).tallies)
    assert whole.metrics["exact"] == 0.0
