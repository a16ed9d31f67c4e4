"""Notices that a Ray node cannot be reached, sooner than Ray itself: its heartbeats are patient.

A connection is accepted by the node's kernel, so that a busy node still counts as reachable.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

LOST_SECONDS = 8.0
"""A node that could not be connected to for this long is lost."""
_TIMEOUT_SECONDS = 2.0

Address = tuple[str, int]


def connects(address: Address) -> bool:
    """Whether the port accepts a connection."""
    return connection_problem(address) is None


def connection_problem(address: Address) -> str | None:
    """Why the port accepts no connection; None: it does."""
    try:
        socket.create_connection(address, timeout=_TIMEOUT_SECONDS).close()
    except TimeoutError:
        return f"no answer within {_TIMEOUT_SECONDS:g} s"
    except OSError as error:
        return error.strerror or str(error)
    return None


class Reachability:
    """Connects to every node again and again, each in a thread of its own so that a lost one delays no other."""

    def __init__(
        self,
        probe: Callable[[Address], bool] = connects,
        lost_seconds: float = LOST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._probe, self._lost_seconds, self._clock = probe, lost_seconds, clock
        self._threads = ThreadPoolExecutor(32, "reachability")
        self._under_way: dict[str, Future[bool]] = {}
        self._answered_at: dict[str, float] = {}

    def unreachable(self, nodes: Mapping[str, Address]) -> frozenset[str]:
        """The nodes that have not answered for too long; called about once a second with all nodes, by id."""
        now = self._clock()
        for gone in set(self._answered_at) - set(nodes):
            self._answered_at.pop(gone, None)
            self._under_way.pop(gone, None)
        for node_id, address in nodes.items():
            self._answered_at.setdefault(node_id, now)
            probe = self._under_way.get(node_id)
            if probe is not None and probe.done() and probe.result():
                self._answered_at[node_id] = now
            if probe is None or probe.done():
                self._under_way[node_id] = self._threads.submit(self._probe, address)
        return frozenset(node_id for node_id in nodes if now - self._answered_at[node_id] > self._lost_seconds)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
