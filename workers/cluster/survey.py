"""The survey of all Ray nodes for whoever operates them: releases, clocks, who cannot reach whom, and who left.

What the watch decides by, it finds out itself, every second; this is asked once a minute and decides nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import structlog

from workers.cluster.node_survey import NodeReport
from workers.cluster.ray_view import Node
from workers.cluster.reachability import Address
from workers.cluster.watch import ClusterWatch

log = structlog.get_logger()

EVERY_SECONDS = 60.0
AUTOSCALING_EVERY_SECONDS = 600.0
"""Where nodes come and go by themselves: one that is asked is not idle, and an autoscaler removes idle ones."""
LEFT_SHOWN_SECONDS = 600.0
"""A node that left is still named for this long."""
TARGETS_AT_ONCE = 64
"""A node tries this many others at a time, in turn: of 1,000 nodes each tries all others in 16 minutes."""
AT_ONCE = 16


class Surveyor(Protocol):
    """Asks one node."""

    def ask_here(self, targets: Mapping[str, Address]) -> NodeReport: ...

    def ask(self, node_id: str, targets: Mapping[str, Address], *, works: bool) -> NodeReport: ...


class ClusterSurvey:
    """What is known of each node, and the nodes that left of late."""

    def __init__(
        self,
        watch: ClusterWatch,
        surveyor: Surveyor,
        gateways: Sequence[str] = (),
        every: float = EVERY_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._watch, self._surveyor, self._every, self._clock = watch, surveyor, every, clock
        self._gateways = {f"gateway {address}": _parse(address) for address in gateways}
        self._threads = ThreadPoolExecutor(AT_ONCE, "survey")
        self._lock = threading.Lock()
        self._present: dict[str, Node] = {}
        self._left: dict[str, tuple[Node, float]] = {}
        self._due: dict[str, float] = {}
        self._reports: dict[str, NodeReport] = {}
        self._turns: dict[str, int] = {}

    def start(self) -> None:
        """Look every second until the process ends."""
        threading.Thread(target=self._run, name="cluster-survey", daemon=True).start()

    def report(self, node_id: str) -> NodeReport:
        """What the node answered last; empty until it has."""
        with self._lock:
            return self._reports.get(node_id, NodeReport())

    def left(self) -> list[tuple[Node, float]]:
        """The nodes that left of late, and how many seconds ago."""
        now = self._clock()
        with self._lock:
            return [(node, now - at) for node, at in self._left.values()]

    def look(self) -> None:
        """Note who came and left, and ask those whose turn it is."""
        now, nodes = self._clock(), {node.id: node for node in self._watch.nodes}
        with self._lock:
            gone = {node_id: (node, now) for node_id, node in self._present.items() if node_id not in nodes}
            kept = {**self._left, **gone}
            back = {node.host for node in nodes.values()}  # a host that came back has a new node
            self._left = {
                node_id: (node, at)
                for node_id, (node, at) in kept.items()
                if now - at < LEFT_SHOWN_SECONDS and node.host not in back
            }
            self._present = nodes
            for known in (self._due, self._reports, self._turns):
                for node_id in set(known) - set(nodes):
                    known.pop(node_id)
            due = [node for node in nodes.values() if self._due.get(node.id, now) <= now and self._may_ask(node)]
            self._due |= {node.id: now + self._every for node in due}
        for node in due:
            self._threads.submit(self._ask, node)

    def close(self) -> None:
        """Wait for the answers that are under way."""
        self._threads.shutdown(wait=True)

    def _may_ask(self, node: Node) -> bool:
        return node.id not in self._watch.state.unreachable and not self._watch.is_draining(node.id)

    def _ask(self, node: Node) -> None:
        targets = self._targets(node)
        try:
            if node.id == self._watch.own_node:
                found = self._surveyor.ask_here(targets)
            else:
                found = self._surveyor.ask(node.id, targets, works=node.cpus > 0)
        except Exception as error:  # the head may be gone; the next survey tells
            log.warning("a Ray node cannot be asked", node=node.name, problem=str(error))
            return
        with self._lock:
            if node.id not in self._present:
                return
            before = self._reports.get(node.id, NodeReport()).unreached
            names = {other.name for other in self._present.values()} | set(self._gateways)
            earlier = {name: why for name, why in before.items() if name in names and name not in targets}
            self._reports[node.id] = NodeReport(
                release=found.release,
                skew=found.skew,
                faults=found.faults,
                unreached={**earlier, **found.unreached},
            )

    def _targets(self, node: Node) -> dict[str, Address]:
        with self._lock:
            others = sorted((each for each in self._present.values() if each.id != node.id), key=lambda each: each.id)
            turn = self._turns.get(node.id, 0)
            self._turns[node.id] = turn + TARGETS_AT_ONCE
        few = others
        if len(others) > TARGETS_AT_ONCE:
            few = [others[(turn + number) % len(others)] for number in range(TARGETS_AT_ONCE)]
        # nodes that run no crews play no games that call in
        return {**{each.name: each.address for each in few}, **(self._gateways if node.cpus else {})}

    def _run(self) -> None:
        while True:
            try:
                self.look()
            except Exception as error:
                log.warning("ray's nodes cannot be surveyed", problem=str(error))
            time.sleep(1.0)


def _parse(address: str) -> Address:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
