"""Ports of the parts: chosen once and kept across restarts, so that clients can reconnect.

See docs/decisions/embedded-stack.md.
"""

from __future__ import annotations

import errno
import json
import random
import socket
from collections.abc import Mapping
from types import MappingProxyType

from lanista.stack.errors import PortInUse, StackError
from lanista.stack.home import Home, write_atomically

# Below the ephemeral range, where outgoing connections could take a chosen port while its server restarts.
FIRST, LAST = 20_000, 32_000


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could bind the port now."""
    try:
        _bind(port, host)
    except OSError:
        return False
    return True


def _bind(port: int, host: str) -> None:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)


def answers(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server accepts connections on the port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((host, port)) == 0


def require_free(port: int, *, host: str, flag: str) -> None:
    """Raise PortInUse, or another StackError that says why the port cannot be bound."""
    try:
        _bind(port, host)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(f"Port {port} is in use by another program. Choose another with {flag}.") from None
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise StackError(
                f"{host!r} is not an address of this machine. Set LANISTA_HOST to one, or leave it out."
            ) from None
        raise StackError(
            f"Port {port} cannot be bound on {host}: {error.strerror}. Choose another with {flag}."
        ) from None


def choose_ports(
    home: Home,
    names: tuple[str, ...],
    fixed: dict[str, int],
    taken: frozenset[int] = frozenset(),
    preferred: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, int]:
    """A free port for each name: the configured one, else the one used last time, the preferred one, or a new one.

    `taken` ports, which other parts will bind, are not used.
    """
    remembered = _remembered(home)
    ports = {name: port for name, port in fixed.items() if port and name in names}
    for name, port in ports.items():
        require_free(port, host="127.0.0.1", flag=f"LANISTA_{name.upper()}_PORT")
        if port in taken or list(ports.values()).count(port) > 1:
            raise PortInUse(f"LANISTA_{name.upper()}_PORT={port}: another part uses this port.")
    for name in names:
        if name not in ports:
            used = taken | set(ports.values())
            likely = [port for port in (remembered.get(name, 0), preferred.get(name, 0)) if port and port not in used]
            ports[name] = next(filter(is_free, likely), 0) or unused_port(used)
    write_atomically(home.ports_file, json.dumps({**remembered, **ports}))
    return ports


def _remembered(home: Home) -> dict[str, int]:
    """The ports used last time; none if the file is missing or damaged."""
    try:
        values = json.loads(home.ports_file.read_text())
    except (OSError, ValueError):
        return {}
    return {name: port for name, port in values.items() if isinstance(port, int)} if isinstance(values, dict) else {}


def unused_port(taken: set[int] | frozenset[int] = frozenset()) -> int:
    """A free port that is not among `taken`."""
    for _ in range(200):
        port = random.randint(FIRST, LAST)  # noqa: S311 a port is no secret
        if port not in taken and is_free(port):
            return port
    raise PortInUse(f"No free port found between {FIRST} and {LAST}.")
