"""The watch over Ray's nodes: one thread of the train worker asks Ray every second, everyone else reads what it saw.

See docs/decisions/clusters.md.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactError, ArtifactStore, DamagedArtifact, MissingArtifact
from workers.cluster.labels import NODE_ID
from workers.cluster.ray_view import Node, RayView
from workers.cluster.reachability import Reachability

log = structlog.get_logger()

POLL_SECONDS = 1.0
RECHECK_SECONDS = 20.0
"""A node that failed its check is checked again after this long."""
REST_FACTOR = 20
"""Ray is asked for its placement groups again after this many times what the last answer took."""
GIVE_WAY_AFTER_SECONDS = 3.0
"""A crew of another train worker that has waited this long gets the CPUs of idle crews: a cold start costs seconds."""


@dataclass(kw_only=True)
class _Check:
    """What is known of a node's check."""

    call: Any = None
    """Under way; None: ended."""
    problem: str | None = "is checked before it gets work"
    ended_at: float = 0.0
    also: CheckpointRef | None = None


@dataclass(frozen=True, kw_only=True)
class ClusterState:
    """What the watch saw last."""

    usable: Mapping[str, Node] = field(default_factory=dict)
    """The nodes that may run users' work, by id."""
    excluded: Mapping[str, str] = field(default_factory=dict)
    """Why other nodes with CPUs may not, by id."""
    unreachable: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)


class ClusterWatch:
    """Which nodes may run users' work: alive, with CPUs and the labels asked for, reachable, checked, not draining.

    The node of this process is not checked: it reads the same artifacts and runs the same code.
    """

    def __init__(
        self,
        view: RayView,
        labels: Mapping[str, str] | None = None,
        reachability: Reachability | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._view, self._labels, self._clock = view, dict(labels or {}), clock
        self._reachability = reachability or Reachability()
        self._own_node = ""
        self._nodes: tuple[Node, ...] = ()
        self._draining: frozenset[str] = frozenset()
        self._checks: dict[str, _Check] = {}
        self._own_groups: set[str] = set()
        self._others_since: dict[str, float] = {}
        self._groups_from = 0.0
        self._lock = threading.Lock()
        self.state = ClusterState()

    def start(self) -> None:
        """Look once, then every second until the process ends."""
        self._own_node = self._view.own_node()
        self.refresh()
        threading.Thread(target=self._run, name="cluster-watch", daemon=True).start()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes that are alive."""
        return self._nodes

    @property
    def own_node(self) -> str:
        """The id of this process's node."""
        return self._own_node

    def is_draining(self, node_id: str) -> bool:
        """Whether the node gets nothing new."""
        return node_id in self._draining

    @property
    def cpus(self) -> float:
        """CPUs of the nodes that may run users' work."""
        return sum(node.cpus for node in self.state.usable.values())

    def selector(self, *, spare: Collection[str] = ()) -> dict[str, str]:
        """Ray's label selector of nodes that may run users' work, without those to `spare`."""
        # by exclusion, so that a waiting group also fits nodes that an autoscaler has yet to start
        excluded = sorted({*self.state.excluded, *spare})
        return {**self._labels, **({NODE_ID: f"!in({','.join(excluded)})"} if excluded else {})}

    def lost(self, nodes: Iterable[str]) -> str | None:
        """Why one of these nodes counts as lost; None: none does."""
        for node_id in self.state.unreachable.intersection(nodes):
            return f"node {self.state.names.get(node_id, node_id)} cannot be reached"
        return None

    def may_use(self, nodes: Iterable[str]) -> bool:
        """Whether new work may start on all these nodes."""
        return all(node_id in self.state.usable for node_id in nodes)

    def blame(self, nodes: Iterable[str], error: MissingArtifact | DamagedArtifact, store: ArtifactStore) -> str | None:
        """Distrust nodes that could not read an artifact which this process reads; says so, None if it cannot either.

        So a checkpoint is called damaged only where the fault is not a node's.
        """
        sha256 = error.sha256 if isinstance(error, MissingArtifact) else error.expected
        ref = CheckpointRef(uri=error.uri, sha256=sha256, size=0)
        others = [node_id for node_id in nodes if node_id != self._own_node]
        if not others or not _readable(store, ref):
            return None
        self.distrust(others, ref)
        named = ", ".join(self.state.names.get(node_id, node_id) for node_id in others)
        return f"{error}: on {named}, while the train worker can read it"

    def distrust(self, nodes: Iterable[str], ref: CheckpointRef) -> None:
        """Use these nodes no more until they read this artifact, which they could not."""
        with self._lock:
            for node_id in nodes:
                if node_id != self._own_node:
                    self._checks[node_id] = _Check(problem=f"could not read the artifact {ref.sha256}", also=ref)
        self._derive(self.state.unreachable)

    def own_group(self, group: str, *, ended: bool = False) -> None:
        """Tell apart this process's placement groups from those of other drivers."""
        with self._lock:
            (self._own_groups.discard if ended else self._own_groups.add)(group)

    def others_wait(self) -> bool:
        """Whether a crew of another train worker has waited for room for some seconds."""
        now = self._clock()
        with self._lock:
            return any(now - since >= GIVE_WAY_AFTER_SECONDS for since in self._others_since.values())

    def refresh(self) -> None:
        """Ask Ray, and start and end checks."""
        self._nodes, self._draining = tuple(self._view.nodes()), frozenset(self._view.draining())
        unreachable = self._reachability.unreachable({node.id: node.address for node in self._nodes})
        self._derive(unreachable)  # a check may wait for the artifact store, the loss of a node may not
        self._note_others()
        with self._lock:
            self._checks = {node.id: self._checks[node.id] for node in self._nodes if node.id in self._checks}
        for node in self._nodes:
            if node.cpus and node.id not in unreachable:
                self._check(node)
        self._derive(unreachable)

    def _derive(self, unreachable: frozenset[str]) -> None:
        """Set `state` from what is known."""
        usable, excluded, names = {}, {}, {}
        for node in self._nodes:
            names[node.id] = node.name
            if not node.cpus:
                continue
            problem = self._problem(node, unreachable)
            if problem is None:
                usable[node.id] = node
            else:
                excluded[node.id] = problem
        self._log_changes(names, excluded)
        self.state = ClusterState(usable=usable, excluded=excluded, unreachable=unreachable, names=names)

    def _problem(self, node: Node, unreachable: frozenset[str]) -> str | None:
        if node.id in unreachable:
            return "cannot be reached"
        if node.id in self._draining:
            return "is draining"
        lacking = [f"{key}={value}" for key, value in self._labels.items() if node.labels.get(key) != value]
        if lacking:
            return f"lacks the label {', '.join(lacking)}"
        if node.id == self._own_node:
            return None
        with self._lock:
            return self._checks[node.id].problem if node.id in self._checks else _Check().problem

    def _check(self, node: Node) -> None:
        if node.id == self._own_node:
            return
        with self._lock:
            check = self._checks.setdefault(node.id, _Check())
        if check.call is not None:
            if self._view.check_ended(check.call):
                check.problem = self._view.check_result(check.call)
                check.call, check.ended_at = None, self._clock()
        elif check.problem is not None and (not check.ended_at or self._clock() - check.ended_at > RECHECK_SECONDS):
            try:
                check.call = self._view.start_check(node.id, check.also)
            except ArtifactError as error:  # an outage of the store says nothing about the node
                log.warning("a node cannot be checked", node=node.name, problem=str(error))

    def _note_others(self) -> None:
        if (now := self._clock()) < self._groups_from:
            return
        waiting = self._view.waiting_groups()
        # Ray lists every group that there ever was, so the call takes longer with the days
        self._groups_from = self._clock() + REST_FACTOR * (self._clock() - now)
        with self._lock:
            others = waiting - self._own_groups
            self._others_since = {group: self._others_since.get(group, now) for group in others}

    def _log_changes(self, names: Mapping[str, str], excluded: Mapping[str, str]) -> None:
        before = self.state
        for node_id, problem in excluded.items():
            if before.excluded.get(node_id) != problem:
                log.warning("a Ray node gets no work", node=names[node_id], problem=problem)
        for node_id in before.excluded.keys() - excluded.keys():
            log.info("a Ray node may be used" if node_id in names else "a Ray node is gone", node=before.names[node_id])

    def _run(self) -> None:
        while True:
            time.sleep(POLL_SECONDS)
            try:
                self.refresh()
            except Exception as error:  # the head may be gone; the process then ends by Ray's own rule
                log.warning("ray's nodes cannot be read", problem=str(error))


def _readable(store: ArtifactStore, ref: CheckpointRef) -> bool:
    try:
        store.verify(ref)
    except ArtifactError:
        return False
    return True
