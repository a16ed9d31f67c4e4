"""A crew in one process gives the checkpoint of a crew on Ray, bit for bit."""

from dataclasses import replace

import pytest

import lanista
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask, PlannedOpponent, Topology
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.one_process.trial_files import SMALL
from tests.unit.training.generation_task import TASK
from workers.crews.generation import run_generation
from workers.crews.local_generation import LocalCrews

pytestmark = pytest.mark.usefixtures("local_ray")

RANDOM = PlannedOpponent(player="random", version="random", probability=0.25, bot="random")
SELF = PlannedOpponent(player="main", version="main:0", probability=0.75)


@pytest.mark.parametrize(
    "task",
    [
        replace(TASK, opponents=(SELF, RANDOM)),
        replace(TASK, model=Component(id="gru", options={"hidden": 8, "state": 8})),
        replace(TASK, topology=Topology.SPLIT, rollout_actors=2, tables=32),
        replace(TASK, algorithm=Component(id="rainbow", options={"rollout_steps": 8, "capacity": 2_000}), steps=1_000),
    ],
    ids=["fused", "recurrent", "split", "replay"],
)
def test_one_process_gives_the_checkpoint_of_ray(task: GenerationTask, store: ArtifactStore) -> None:
    on_ray = run_generation(task, store=store, progress=lambda _: None, should_stop=lambda: False)
    here = LocalCrews(store).run_generation(task, progress=lambda _: None)
    assert here.checkpoint == on_ray.checkpoint
    assert (here.tallies, here.returns, here.steps) == (on_ray.tallies, on_ray.returns, on_ray.steps)


def test_a_run_on_ray_gives_the_checkpoints_of_one_process() -> None:
    here = lanista.train(SMALL, generations=2, games=0).finish()
    on_ray = lanista.train(SMALL, generations=2, games=0, ray=True).finish()
    assert [each.checkpoint.sha256 for each in on_ray.generations] == [
        each.checkpoint.sha256 for each in here.generations
    ]
