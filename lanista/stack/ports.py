"""Ports of the parts: chosen once, kept across restarts, so that clients find a restarted part where it was."""

from __future__ import annotations

import json
import random
import socket

from lanista.stack.errors import PortInUse
from lanista.stack.home import Home, write_atomically

# Below the ephemeral range, where outgoing connections could take a chosen port while its server restarts.
FIRST, LAST = 20_000, 32_000


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could bind the port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def answers(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server accepts connections on the port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((host, port)) == 0


def require_free(port: int, *, host: str, flag: str) -> None:
    if not is_free(port, host):
        raise PortInUse(f"Port {port} is in use by another program. Choose another with {flag}.")


def choose_ports(home: Home, names: tuple[str, ...], fixed: dict[str, int]) -> dict[str, int]:
    """A free port for each name: the one a person fixed, else the one used last time, else a new one."""
    remembered: dict[str, int] = {}
    if home.ports_file.exists():
        remembered = json.loads(home.ports_file.read_text())
    ports: dict[str, int] = {}
    for name in names:
        if wanted := fixed.get(name):
            require_free(wanted, host="127.0.0.1", flag=f"LANISTA_{name.upper()}_PORT")
            ports[name] = wanted
        elif name in remembered and is_free(remembered[name]) and remembered[name] not in ports.values():
            ports[name] = remembered[name]
        else:
            ports[name] = unused_port(set(ports.values()))
    write_atomically(home.ports_file, json.dumps({**remembered, **ports}))
    return ports


def unused_port(taken: set[int] | frozenset[int] = frozenset()) -> int:
    """A port that no server holds now and that is not among `taken`."""
    for _ in range(200):
        port = random.randint(FIRST, LAST)
        if port not in taken and is_free(port):
            return port
    raise PortInUse(f"No free port found between {FIRST} and {LAST}.")
