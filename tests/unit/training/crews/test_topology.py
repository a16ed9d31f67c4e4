"""Which topology a crew has, as the trial file's documentation says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.catalog import Component
from orchestrator.contracts.generations import Topology
from orchestrator.spec.algorithms.choice import BUILT_IN_ALGORITHMS
from orchestrator.spec.generation import GenerationSpec
from tests.unit.training.generation_task import TASK
from workers.algorithms.contract import algorithm_class
from workers.crews.errors import BadTask
from workers.crews.plan import crew_plan
from workers.crews.task import check_task


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


def test_an_algorithm_that_restarts_games_is_refused_by_asynchronous_crews() -> None:
    task = replace(TASK, rollout_actors=2, algorithm=Component(id="es", options={}))
    for topology in (Topology.AUTO, Topology.FUSED, Topology.SPLIT):
        check_task(replace(task, topology=topology))
    with pytest.raises(BadTask, match=r"'es': its games begin anew with each update.*allowed topologies: fused, split"):
        check_task(replace(task, topology=Topology.ASYNCHRONOUS))


@pytest.mark.parametrize("algorithm", BUILT_IN_ALGORITHMS)
def test_the_trial_file_and_the_crew_agree_on_the_processes_that_learn(algorithm: str) -> None:
    chosen = BUILT_IN_ALGORITHMS[algorithm]
    for topology in ("auto", "fused", "split", "asynchronous"):
        for trainers in (1, 2):
            size = GenerationSpec(rollout_actors=4, trainers=trainers, topology=topology, device="cuda")
            task = replace(
                TASK,
                rollout_actors=4,
                trainers=trainers,
                topology=Topology(topology),
                algorithm=Component(id=algorithm, options={}),
            )
            plan = crew_plan(task)
            given = chosen.model_construct(id=algorithm)
            assert size.training_processes(given) == plan.learners
            assert size.needed_gpus(given) == plan.processes
            assert algorithm_class(task.algorithm).restarts == given.restarts
