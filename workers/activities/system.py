"""System checks of the train worker's queues, and the description of the Ray cluster."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import ray
import torch
from temporalio import activity

from orchestrator import contracts
from orchestrator.contracts import PartReport, PartRequest
from orchestrator.contracts.interactive import RayNode, RayRequest, RayResources, describe_ray
from workers.cluster.watch import ClusterWatch


@ray.remote(num_cpus=0)
def _dot_on_ray(size: int) -> float:
    """A small computation with a known result, run in a Ray process."""
    ones = torch.ones(size)
    return float(ones @ ones)


async def _prove_ray(part: str, size: int) -> PartReport:
    started = time.perf_counter()
    pending = _dot_on_ray.remote(size)
    while not (await asyncio.to_thread(ray.wait, [pending], timeout=0.5))[0]:
        activity.heartbeat("waiting for Ray")
    value = ray.get(pending)
    if value != float(size):
        raise ArithmeticError(f"a Ray process answered {value}, expected {size}")
    cpus = ray.cluster_resources().get("CPU", 0)
    return PartReport(
        part=part,
        detail=f"Ray {ray.__version__} with {cpus:g} CPUs ran torch {torch.__version__}",
        milliseconds=(time.perf_counter() - started) * 1000,
    )


class SystemCheckActivities:
    """Checks that the train worker's queues and Ray work."""

    def __init__(self, cluster: ClusterWatch) -> None:
        self._cluster = cluster

    @activity.defn(name=contracts.check_train.name)
    async def check_train(self, request: PartRequest) -> PartReport:
        return await _prove_ray("train", 64)

    @activity.defn(name=contracts.check_play.name)
    async def check_play(self, request: PartRequest) -> PartReport:
        return await _prove_ray("play", 32)

    @activity.defn(name=contracts.check_interactive.name)
    async def check_interactive(self, request: PartRequest) -> PartReport:
        return PartReport(part="interactive", detail=f"torch {torch.__version__}, no Ray needed", milliseconds=0.0)

    @activity.defn(name=describe_ray.name)
    def describe_ray(self, request: RayRequest) -> RayResources:
        """The cluster's resources in total and free, as Ray's head node counts them."""
        total, free = ray.cluster_resources(), ray.available_resources()
        return RayResources(
            version=ray.__version__,
            cpus=total.get("CPU", 0.0),
            cpus_available=free.get("CPU", 0.0),
            gpus=total.get("GPU", 0.0),
            gpus_available=free.get("GPU", 0.0),
            memory_bytes=int(total.get("memory", 0)),
            memory_available_bytes=int(free.get("memory", 0)),
            object_store_bytes=int(total.get("object_store_memory", 0)),
            object_store_available_bytes=int(free.get("object_store_memory", 0)),
            nodes=[self._node(node) for node in ray.nodes()],
        )

    def _node(self, node: dict[str, Any]) -> RayNode:
        return _node(node, self._cluster.state.excluded.get(node["NodeID"], ""))


def _node(node: dict[str, Any], problem: str) -> RayNode:
    has = node["Resources"]
    return RayNode(
        address=node["NodeManagerAddress"],
        alive=node["Alive"],
        host=node["NodeManagerHostname"],
        problem=problem,
        cpus=has.get("CPU", 0.0),
        memory_bytes=int(has.get("memory", 0)),
        object_store_bytes=int(has.get("object_store_memory", 0)),
    )
