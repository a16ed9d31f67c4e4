"""Actors on Ray, in processes of their own: they belong to this process and die with it.

See docs/decisions/crews.md.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import ray
from ray.util.placement_group import PlacementGroup, placement_group, placement_group_table, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from orchestrator.storage.artifacts import ArtifactStore
from workers.cluster.labels import NODE_ID
from workers.cluster.watch import ClusterWatch
from workers.crews.actors import CrewActor
from workers.crews.errors import CrewLost, GenerationStopped
from workers.crews.hosts.calls import call_results
from workers.crews.hosts.contract import POLL_SECONDS, ActorHandle, ActorHost, Call, OnWaiting, ShouldStop
from workers.crews.hosts.placement import check_capacity, gpu_nodes_to_spare
from workers.crews.plan import Bundle, CrewPlan

CAPACITY_CHECK_SECONDS = 1.0
"""How often a crew that waits for CPUs checks whether Ray's nodes could still hold it."""
GIVE_WAY_SECONDS = 15.0
"""The longest time that a new crew lets those of other train workers go first."""
SPARE_SECONDS = 5.0
"""How long processes that need no GPU wait for room on nodes without GPUs before they take any node."""
FIRST_POLL_SECONDS = 0.005
"""Where CPUs are free, Ray creates a placement group within some milliseconds."""
_BESIDE = "beside"
"""Ray's concurrency group of calls that run while another call is under way."""


class RayHost(ActorHost):
    """Ray's actors in one placement group, packed on one node where they fit.

    Processes without GPUs leave the nodes that have some to others, where there is room elsewhere.
    """

    def __init__(self, cluster: ClusterWatch | None = None, autoscales: bool = False) -> None:
        """`cluster` says which nodes may be used; None: all. `autoscales`: a crew too large for the nodes waits."""
        self._cluster = cluster
        self._autoscales = autoscales
        self._placement: PlacementGroup | None = None
        self._selectors: list[dict[str, str]] = []
        self._free_bundles: list[int] = []
        self._spares = True
        self.nodes = frozenset()

    def reserve(self, plan: CrewPlan, should_stop: ShouldStop, on_waiting: OnWaiting) -> None:
        """Wait until Ray reserves everything for all actors at once: two crews with half each would deadlock."""
        self._check_capacity(plan)
        self._give_way(should_stop, on_waiting)
        self._spares = True
        self._request(plan)
        pause, checked = FIRST_POLL_SECONDS, time.monotonic()
        spares_until = checked + SPARE_SECONDS
        while (found := placement_group_table(self._placement)).get("state") != "CREATED":
            on_waiting("its crew, whose processes Ray starts")
            if should_stop():
                raise GenerationStopped("stopped while it waited for CPUs")
            if time.monotonic() - checked >= CAPACITY_CHECK_SECONDS:
                # Ray waits forever for a placement group that no node can hold.
                self._check_capacity(plan)
                self._spares = time.monotonic() < spares_until
                if self._selectors != self._wanted_selectors(plan):
                    self._release()
                    self._request(plan)
                checked = time.monotonic()
            time.sleep(pause)
            pause = min(2 * pause, POLL_SECONDS)
        self.nodes = frozenset(found["bundles_to_node_id"].values())

    def _give_way(self, should_stop: ShouldStop, on_waiting: OnWaiting) -> None:
        """Wait while crews of other train workers wait for room: they came first. Not for long: it may never come."""
        deadline = time.monotonic() + GIVE_WAY_SECONDS
        while self._cluster is not None and self._cluster.others_wait() and time.monotonic() < deadline:
            on_waiting("a crew of another train worker, which waits for CPUs too")
            if should_stop():
                raise GenerationStopped("stopped while it waited for CPUs")
            time.sleep(POLL_SECONDS)

    def _request(self, plan: CrewPlan) -> None:
        self._selectors = self._wanted_selectors(plan)
        self._free_bundles = list(range(len(plan.bundles)))
        self._placement = placement_group(
            plan.bundles, bundle_label_selector=self._selectors if any(self._selectors) else None
        )
        if self._cluster is not None:
            self._cluster.own_group(self._placement.id.hex())

    def _wanted_selectors(self, plan: CrewPlan) -> list[dict[str, str]]:
        """A label selector for each bundle."""
        spare = gpu_nodes_to_spare(plan, self._nodes()) if self._spares else []
        if self._cluster is None:
            any_node, without_gpu = {}, {NODE_ID: f"!in({','.join(spare)})"} if spare else {}
        else:
            any_node, without_gpu = self._cluster.selector(), self._cluster.selector(spare=spare)
        return [any_node if "GPU" in bundle else without_gpu for bundle in plan.bundles]

    def _nodes(self) -> dict[str, Mapping[str, float]]:
        """The resources of the nodes that may be used, by id."""
        if self._cluster is None:
            return {node["NodeID"]: node["Resources"] for node in ray.nodes() if node["Alive"]}
        return {node_id: node.resources for node_id, node in self._cluster.state.usable.items()}

    def _check_capacity(self, plan: CrewPlan) -> None:
        if self._autoscales:
            return
        state = None if self._cluster is None else self._cluster.state
        reasons = [] if state is None else [f"{state.names[node]} {why}" for node, why in state.excluded.items()]
        check_capacity(plan, list(self._nodes().values()), reasons)

    def launch(
        self, kind: type[CrewActor], count: int, bundle: Bundle, plan: CrewPlan, store: ArtifactStore
    ) -> list[ActorHandle]:
        """Start the actors on what was reserved."""
        # A restarted actor would have lost its state: the generation is run again instead.
        options: dict[str, Any] = {
            "num_cpus": bundle["CPU"],
            "num_gpus": bundle.get("GPU", 0),
            "memory": bundle.get("memory", 0),
            "max_restarts": 0,
            "concurrency_groups": {_BESIDE: 1},
        }
        remote: Any = ray.remote(**options)(kind)
        return [
            remote.options(scheduling_strategy=self._place(bundle, plan)).remote(plan, store, rank)
            for rank in range(count)
        ]

    def _place(self, bundle: Bundle, plan: CrewPlan) -> PlacementGroupSchedulingStrategy:
        """A bundle of the group that is just as large: a process without a GPU must not take the place of one with."""
        assert self._placement is not None, "CPUs are reserved before actors are launched"
        index = next(number for number in self._free_bundles if plan.bundles[number] == bundle)
        self._free_bundles.remove(index)
        return PlacementGroupSchedulingStrategy(self._placement, placement_group_bundle_index=index)

    def wait(self, calls: Sequence[Call], seconds: float = POLL_SECONDS) -> tuple[list[Call], list[Call]]:
        if self._cluster is not None and (lost := self._cluster.lost(self.nodes)) is not None:
            raise CrewLost(f"the crew was lost: {lost}")
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
        self._release()

    def _release(self) -> None:
        if self._placement is not None:
            remove_placement_group(self._placement)
            if self._cluster is not None:
                self._cluster.own_group(self._placement.id.hex(), ended=True)
            self._placement = None
