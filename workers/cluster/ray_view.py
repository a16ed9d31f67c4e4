"""What Ray tells about its cluster, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ray
from ray._private.state import state as ray_state  # no public call names draining nodes
from ray.util.placement_group import placement_group_table

from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactStore
from workers.cluster.node_check import check_result, start_check
from workers.cluster.reachability import Address

HEAD = "node:__internal_head__"
"""The resource by which Ray marks its head."""
WAITING_STATES = ("PENDING", "RESCHEDULING")


@dataclass(frozen=True, kw_only=True)
class Node:
    """A Ray node that is alive."""

    id: str
    host: str
    address: Address
    resources: Mapping[str, float]
    labels: Mapping[str, str]

    @property
    def cpus(self) -> float:
        return self.resources.get("CPU", 0.0)

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.host} ({self.address[0]})"


class RayView:
    """Asks Ray; the watch's tests have another."""

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store

    def own_node(self) -> str:
        """The node of this process."""
        return str(ray.get_runtime_context().get_node_id())

    def nodes(self) -> list[Node]:
        """All nodes that are alive."""
        return [
            Node(
                id=node["NodeID"],
                host=node["NodeManagerHostname"],
                address=(node["NodeManagerAddress"], node["NodeManagerPort"]),
                resources=node["Resources"],
                labels=node.get("Labels", {}),
            )
            for node in ray.nodes()
            if node["Alive"]
        ]

    def draining(self) -> set[str]:
        """Nodes that finish what they do and get nothing new."""
        return set(ray_state.get_draining_nodes())

    def waiting_groups(self) -> set[str]:
        """The placement groups of all drivers that wait for others to end; not those too large for all nodes."""
        return {
            name
            for name, group in placement_group_table().items()
            if group["state"] in WAITING_STATES and group["stats"]["scheduling_state"] != "INFEASIBLE"
        }

    def start_check(self, node_id: str, also: CheckpointRef | None) -> Any:
        """Start a node's check."""
        return start_check(node_id, self._store, also)

    def check_ended(self, call: Any) -> bool:
        return bool(ray.wait([call], timeout=0, fetch_local=False)[0])

    def check_result(self, call: Any) -> str | None:
        return check_result(call)
