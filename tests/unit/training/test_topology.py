"""Which topology a crew has, as the trial file's documentation says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.catalog import Component
from orchestrator.contracts.generations import Topology
from orchestrator.spec.generation import GenerationSpec
from tests.unit.training.generation_task import TASK
from workers.crews.generation import crew_plan


@pytest.mark.parametrize(
    ("topology", "trainers", "algorithm", "split", "asynchronous"),
    [
        (Topology.AUTO, 1, "ppo", False, False),
        (Topology.AUTO, 2, "ppo", True, False),
        (Topology.AUTO, 1, "impala", True, True),
        (Topology.SPLIT, 1, "ppo", True, False),
        (Topology.SPLIT, 2, "impala", True, False),
        (Topology.FUSED, 1, "impala", False, False),
        (Topology.ASYNCHRONOUS, 1, "ppo", True, True),
    ],
)
def test_auto_looks_at_the_trainers_and_the_algorithm(
    topology: Topology, trainers: int, algorithm: str, split: bool, asynchronous: bool
) -> None:
    task = replace(
        TASK, topology=topology, trainers=trainers, rollout_actors=2, algorithm=Component(id=algorithm, options={})
    )
    plan = crew_plan(task)
    assert (plan.split, plan.asynchronous) == (split, asynchronous)
    assert plan.processes == 2 + (trainers if split else 0)


def test_the_trial_file_says_what_auto_does() -> None:
    described = str(GenerationSpec.model_fields["topology"].description)
    assert "auto: asynchronous for impala, else split if trainers > 1, else fused" in described
