"""System checks of the train worker's queues, and the description of the Ray cluster."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any

import ray
import torch
from temporalio import activity

from orchestrator import contracts
from orchestrator.contracts import PartReport, PartRequest
from orchestrator.contracts.interactive import RayNode, RayRequest, RayResources, Unreached, describe_ray
from workers.cluster.ray_view import HEAD, Node
from workers.cluster.survey import ClusterSurvey
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

    def __init__(self, cluster: ClusterWatch, survey: ClusterSurvey) -> None:
        self._cluster, self._survey = cluster, survey

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
            # Ray lists dead nodes for days; those that left of late are the survey's
            nodes=[self._node(node) for node in ray.nodes() if node["Alive"]]
            + [_left_node(node, seconds) for node, seconds in self._survey.left()],
            host=socket.gethostname(),
            unreached=[
                Unreached(source=node.host, target=target, problem=problem)
                for node in self._cluster.nodes
                for target, problem in self._survey.report(node.id).unreached.items()
            ],
            asked_at=time.time(),
        )

    def _node(self, node: dict[str, Any]) -> RayNode:
        report = self._survey.report(node["NodeID"])
        has = node["Resources"]
        return RayNode(
            address=node["NodeManagerAddress"],
            alive=True,
            host=node["NodeManagerHostname"],
            problem=self._cluster.state.excluded.get(node["NodeID"], ""),
            cpus=has.get("CPU", 0.0),
            memory_bytes=int(has.get("memory", 0)),
            object_store_bytes=int(has.get("object_store_memory", 0)),
            head=HEAD in has,
            release=report.release,
            faults=list(report.faults),
            ahead_seconds=None if report.skew is None else report.skew.ahead,
            within_seconds=0.0 if report.skew is None else report.skew.within,
        )


def _left_node(node: Node, seconds: float) -> RayNode:
    return RayNode(
        address=node.address[0],
        alive=False,
        host=node.host,
        cpus=node.cpus,
        memory_bytes=int(node.resources.get("memory", 0)),
        object_store_bytes=int(node.resources.get("object_store_memory", 0)),
        left_seconds=seconds,
    )
