"""What Ray reserves for the processes of a crew, and when a cluster is too small."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.contracts.generations import ProcessResources, Topology
from orchestrator.spec.generation import GenerationSpec
from tests.unit.training.generation_task import TASK
from workers.crews.errors import CrewUnavailable
from workers.crews.hosts.placement import check_capacity, gpu_nodes_to_spare
from workers.crews.plan import CrewPlan, crew_plan

MB = float(1 << 20)


def plan(*, split: bool = False, actors: int = 2, gpus_of_cluster: float = 0.0, **resources: Any) -> CrewPlan:
    topology = Topology.SPLIT if split else Topology.FUSED
    task = replace(TASK, rollout_actors=actors, topology=topology, threads=2, resources=ProcessResources(**resources))
    return crew_plan(task).on_cluster(gpus_of_cluster)


@pytest.mark.parametrize(
    ("asked", "bundles"),
    [
        (plan(), [{"CPU": 2.0}] * 2),
        (plan(cpus=0.5, memory_mb=100), [{"CPU": 0.5, "memory": 100 * MB}] * 2),
        (plan(device="cuda"), [{"CPU": 2.0, "GPU": 1.0}] * 2),
        (plan(device="cuda", gpus=0.25), [{"CPU": 2.0, "GPU": 0.25}] * 2),
        (plan(device="cuda", split=True), [{"CPU": 2.0, "GPU": 1.0}] * 3),
        (plan(device="cuda", sampling_device="cpu", split=True), [{"CPU": 2.0, "GPU": 1.0}, *[{"CPU": 2.0}] * 2]),
        (plan(device="cpu", sampling_device="cuda", split=True), [{"CPU": 2.0}, *[{"CPU": 2.0, "GPU": 1.0}] * 2]),
        (plan(device="cuda", sampling_device="cpu"), [{"CPU": 2.0, "GPU": 1.0}] * 2),
        (plan(device="auto"), [{"CPU": 2.0}] * 2),
        (plan(device="auto", gpus_of_cluster=1.0), [{"CPU": 2.0, "GPU": 1.0}] * 2),
        (plan(device="auto", sampling_device="cpu", gpus_of_cluster=1.0), [{"CPU": 2.0, "GPU": 1.0}] * 2),
    ],
)
def test_each_process_reserves_what_it_needs(asked: CrewPlan, bundles: list[dict[str, float]]) -> None:
    assert asked.bundles == bundles
    assert asked.cpus == sum(bundle["CPU"] for bundle in bundles)


@pytest.mark.parametrize(
    ("asked", "nodes", "words"),
    [
        (plan(device="cuda"), [{"CPU": 8.0}], r"needs 2 GPUs \(2 processes of 2 CPUs, 1 GPUs\), Ray has 0"),
        (plan(device="cuda", gpus=0.5), [{"CPU": 8.0, "GPU": 1.0}], None),
        (plan(memory_mb=600), [{"CPU": 8.0, "memory": 1000 * MB}], "needs 1200 MB .* Ray has 1000"),
        (plan(device="cuda"), [{"CPU": 8.0}, {"CPU": 1.0, "GPU": 2.0}], "each process on one node"),
        (plan(device="cuda"), [{"CPU": 8.0}, {"CPU": 4.0, "GPU": 2.0}], None),
        (plan(device="cuda", sampling_device="cpu", split=True), [{"CPU": 4.0}, {"CPU": 2.0, "GPU": 1.0}], None),
    ],
)
def test_a_cluster_that_is_too_small_is_named(
    asked: CrewPlan, nodes: list[dict[str, float]], words: str | None
) -> None:
    if words is None:
        check_capacity(asked, nodes)
        return
    with pytest.raises(CrewUnavailable, match=words):
        check_capacity(asked, nodes)


LARGE_GPU, SMALL_GPU, LARGE, SMALL = (
    {"CPU": 16.0, "GPU": 2.0},
    {"CPU": 2.0, "GPU": 1.0},
    {"CPU": 8.0},
    {"CPU": 2.0},
)


@pytest.mark.parametrize(
    ("asked", "nodes", "spared"),
    [
        (plan(device="cuda", sampling_device="cpu", split=True), {"g": LARGE_GPU, "h": SMALL_GPU, "c": LARGE}, "gh"),
        (plan(device="cuda", sampling_device="cpu", split=True), {"g": LARGE_GPU, "c": SMALL, "d": SMALL}, "g"),
        (plan(device="cuda", sampling_device="cpu", split=True), {"g": LARGE_GPU, "c": SMALL}, ""),
        (plan(device="cuda", sampling_device="cpu", split=True), {"g": LARGE_GPU}, ""),
        (plan(), {"g": LARGE_GPU, "c": LARGE}, "g"),
        (plan(), {"c": LARGE}, ""),
        (plan(device="cuda"), {"g": LARGE_GPU, "c": LARGE}, ""),
    ],
)
def test_nodes_with_gpus_are_spared_where_others_have_room(
    asked: CrewPlan, nodes: dict[str, dict[str, float]], spared: str
) -> None:
    assert gpu_nodes_to_spare(asked, nodes) == list(spared)


def test_the_trial_file_refuses_gpus_without_a_device_for_them() -> None:
    with pytest.raises(ValueError, match="needs device or sampling_device cuda or auto"):
        GenerationSpec(gpus=0.5)
    assert GenerationSpec(gpus=0.5, sampling_device="cuda").gpus == 0.5
