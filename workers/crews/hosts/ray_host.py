"""Actors on Ray, in processes of their own: they belong to this process and die with it.

See docs/decisions/crews.md.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import ray
from ray.util.placement_group import PlacementGroup, placement_group, placement_group_table, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from orchestrator.storage.artifacts import ArtifactStore
from workers.crews.actors import CrewActor
from workers.crews.errors import GenerationStopped
from workers.crews.hosts.calls import call_results
from workers.crews.hosts.contract import POLL_SECONDS, ActorHandle, ActorHost, Call, OnWaiting, ShouldStop
from workers.crews.hosts.placement import check_capacity
from workers.crews.plan import Bundle, CrewPlan

CAPACITY_CHECK_SECONDS = 1.0
"""How often a crew that waits for CPUs checks whether Ray's nodes could still hold it."""
FIRST_POLL_SECONDS = 0.005
"""Where CPUs are free, Ray creates a placement group within some milliseconds."""
_BESIDE = "beside"
"""Ray's concurrency group of calls that run while another call is under way."""


class RayHost(ActorHost):
    """Ray's actors in one placement group."""

    def __init__(self) -> None:
        self._placement: PlacementGroup | None = None

    def reserve(self, plan: CrewPlan, should_stop: ShouldStop, on_waiting: OnWaiting) -> None:
        """Wait until Ray reserves everything for all actors at once: two crews with half each would deadlock."""
        _check_capacity(plan)
        self._placement = placement_group(plan.bundles)
        pause, checked = FIRST_POLL_SECONDS, time.monotonic()
        while placement_group_table(self._placement).get("state") != "CREATED":
            on_waiting("Ray to start its processes")
            if should_stop():
                raise GenerationStopped("stopped while it waited for CPUs")
            if time.monotonic() - checked >= CAPACITY_CHECK_SECONDS:
                # Ray waits forever for a placement group that no node can hold.
                _check_capacity(plan)
                checked = time.monotonic()
            time.sleep(pause)
            pause = min(2 * pause, POLL_SECONDS)

    def launch(
        self, kind: type[CrewActor], count: int, bundle: Bundle, plan: CrewPlan, store: ArtifactStore
    ) -> list[ActorHandle]:
        """Start the actors on what was reserved."""
        assert self._placement is not None, "CPUs are reserved before actors are launched"
        # A restarted actor would have lost its state: the generation is run again instead.
        strategy = PlacementGroupSchedulingStrategy(self._placement)
        options: dict[str, Any] = {
            "num_cpus": bundle["CPU"],
            "num_gpus": bundle.get("GPU", 0),
            "memory": bundle.get("memory", 0),
            "max_restarts": 0,
            "concurrency_groups": {_BESIDE: 1},
            "scheduling_strategy": strategy,
        }
        remote: Any = ray.remote(**options)(kind)
        return [remote.remote(plan, store, rank) for rank in range(count)]

    def wait(self, calls: Sequence[Call], seconds: float = POLL_SECONDS) -> tuple[list[Call], list[Call]]:
        return ray.wait(list(calls), timeout=seconds, fetch_local=False)

    def results(self, calls: Sequence[Call]) -> list[Any]:
        return call_results(calls)

    def stop(self, actors: Sequence[ActorHandle], calls: Sequence[Call], seconds: float) -> bool:
        asked = [actor.stop.options(concurrency_group=_BESIDE).remote() for actor in actors]
        everything = [*calls, *asked]
        _, late = ray.wait(everything, num_returns=len(everything), timeout=seconds)
        return not late

    def close(self, actors: Sequence[ActorHandle]) -> None:
        for actor in actors:
            ray.kill(actor, no_restart=True)
        if self._placement is not None:
            remove_placement_group(self._placement)
            self._placement = None


def _check_capacity(plan: CrewPlan) -> None:
    check_capacity(plan, [node["Resources"] for node in ray.nodes() if node["Alive"]])
