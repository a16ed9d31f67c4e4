"""Asynchronous crews: actors never wait, trainers take what is there, and the age of samples is measured."""

from dataclasses import replace

import pytest

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationOutcome, GenerationTask, Topology
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.generation_task import TASK
from workers.checkpoints import load
from workers.crews.errors import GenerationStopped
from workers.crews.generation import run_generation
from workers.crews.task import Progress

pytestmark = pytest.mark.usefixtures("local_ray")

IMPALA = replace(
    TASK, algorithm=Component(id="impala", options={"rollout_steps": 8}), tables=32, rollout_actors=2, steps=16_000
)
UPDATES_LATE = "tests.integration.crews.slow:LateUpdates"


def run(task: GenerationTask, store: ArtifactStore) -> GenerationOutcome:
    return run_generation(task, store=store, progress=lambda _: None, should_stop=lambda: False)


@pytest.mark.parametrize("trainers", [1, 2])
def test_a_generation_is_sampled_whole_and_says_that_it_is_not_exact(store: ArtifactStore, trainers: int) -> None:
    told: list[Progress] = []
    task = replace(IMPALA, trainers=trainers)
    result = run_generation(task, store=store, progress=told.append, should_stop=lambda: False)
    assert result.metrics["exact"] == 0.0
    assert 12_000 < result.steps <= 16_384, "32 updates' worth of two actors, less random opening moves"
    assert 0.0 <= result.metrics["sample_age"] <= result.metrics["sample_age_max"]
    assert result.metrics["sample_age_max"] >= 1.0, "a queued call has the weights of its time"
    assert told[-1].steps == result.steps
    checkpoint = load(store, result.checkpoint)
    updates = checkpoint.learner["optimisers/policy/updates"]
    assert 16 <= updates <= 64, "at least one update for each four batches, at most one for each"
    assert checkpoint.steps == result.steps


def test_weights_are_published_as_often_as_asked_and_the_last_ones_are_kept(store: ArtifactStore) -> None:
    result = run(replace(IMPALA, publish_every=1_000), store)
    updates = load(store, result.checkpoint).learner["optimisers/policy/updates"]
    assert updates >= 16, "the checkpoint has every update"
    assert result.metrics["sample_age_max"] >= updates - 1, "all games were played with the first weights"


def test_actors_do_not_wait_for_a_slow_trainer(store: ArtifactStore) -> None:
    """Its updates take longer than the whole sampling: it takes the newest batches and drops the others."""
    slow = replace(IMPALA, algorithm=Component(id=UPDATES_LATE, options={"rollout_steps": 8}))
    result = run(replace(slow, topology=Topology.ASYNCHRONOUS), store)
    assert result.steps > 12_000
    assert result.metrics["updates"] < 32
    assert result.metrics["dropped_batches"] > 0
    assert result.metrics["rows_learnt"] < 0.9 * 16_384


def test_a_replay_is_fed_by_all_actors(store: ArtifactStore) -> None:
    options = {"rollout_steps": 8, "capacity": 20_000, "warm_up": 100, "minibatch": 64, "replay_ratio": 0.1}
    algorithm = Component(id="examples.own_algorithm:Dqn", options=options)
    result = run(replace(IMPALA, algorithm=algorithm, topology=Topology.ASYNCHRONOUS, player="main"), store)
    assert result.metrics["exact"] == 0.0
    assert "dropped_batches" not in result.metrics
    assert load(store, result.checkpoint).learner["optimisers/policy/updates"] > 5


def test_a_stop_ends_it(store: ArtifactStore) -> None:
    seen: list[Progress] = []
    with pytest.raises(GenerationStopped):
        run_generation(replace(IMPALA, steps=10**9), store=store, progress=seen.append, should_stop=lambda: bool(seen))
