"""The API's process: alive, recorded by the supervisor, owned by our user, and the one that listens on its port.

While the stack is down, another user of the machine can listen on its port. So the local token is sent only over
connections that were made while this process listened there.

See docs/decisions/client-and-command-line.md.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

import psutil

from lanista.stack.errors import NotOurs, NotStarted
from lanista.stack.home import ChildState, Home

PART = "api"
CLOCK_SECONDS = 1.0
"""Start times are computed from the time of the boot, which a corrected clock moves."""
WILDCARDS = {socket.AF_INET: "0.0.0.0", socket.AF_INET6: "::"}  # noqa: S104  # compared, not bound


@dataclass(frozen=True)
class ProcessId:
    """A process, also after its number was given to another."""

    pid: int
    started: float


def api_process(home: Home, url: str, *, token_owner: int | None = None) -> ProcessId:
    """The process of this stack's API; raises NotStarted, or NotOurs if it does not own the port of the address.

    It must be our user's. Root may also send a data folder's own token to a process of the token's owner.
    """
    state = home.live_state()
    if state is None:
        raise NotStarted(f"The stack of the data folder {home.root} does not run. Start it with `lanista up`.")
    child = state.children.get(PART)
    if child is None or child.pid is None:
        raise NotStarted(f"The API of the data folder {home.root} does not run; `lanista status` says why.")
    try:
        process = psutil.Process(child.pid)
        started, owner = process.create_time(), process.uids().real
        listens = {
            (int(connection.family), connection.laddr.ip, connection.laddr.port)
            for connection in process.net_connections("tcp")
            if connection.status == psutil.CONN_LISTEN
        }
    except psutil.Error:
        raise NotStarted(f"The API of the data folder {home.root} has just ended; `lanista status` says why.") from None
    if not _is_recorded(child, started) or owner not in _owners(token_owner):
        raise NotOurs(f"Process {child.pid} is not the API that the supervisor of {home.root} started.")
    if not _addresses(url) <= _covered(listens, url):
        raise NotOurs(
            f"{url} is not served by the API of {home.root} (process {child.pid}), so the token is not sent there. "
            "Is another program listening on the port? `lanista status` shows the stack."
        )
    return ProcessId(child.pid, started)


def _is_recorded(child: ChildState, started: float) -> bool:
    return child.started is not None and abs(child.started - started) <= CLOCK_SECONDS


def _owners(token_owner: int | None) -> set[int]:
    mine = os.geteuid()
    return {mine, token_owner} if mine == 0 and token_owner is not None else {mine}


Listening = tuple[int, str, int]


def _addresses(url: str) -> set[Listening]:
    """Everything that a connection to this address may go to."""
    parts = urlsplit(url)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    except OSError as error:
        raise NotOurs(f"{url} cannot be resolved: {error}") from None
    return {(int(family), str(address[0]), int(address[1])) for family, _, _, _, address in found}


def _covered(listens: set[Listening], url: str) -> set[Listening]:
    """The addresses of the URL on which the process listens, by themselves or by the wildcard."""
    return {
        (family, ip, port)
        for family, ip, port in _addresses(url)
        if (family, ip, port) in listens or (family, WILDCARDS[socket.AddressFamily(family)], port) in listens
    }
