"""The network interface of an address, which gloo and NCCL must be told: they guess it from the host's name."""

from __future__ import annotations

import os
import socket

import psutil


def interface_of(address: str) -> str | None:
    """The name of the interface that has this address."""
    for name, addresses in psutil.net_if_addrs().items():
        if any(each.address.partition("%")[0] == address for each in addresses):
            return name
    return None


def own_address_towards(address: str) -> str:
    """This machine's address on the way to another; sends nothing."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((address, 9))
        return str(probe.getsockname()[0])


def use_interface_towards(address: str) -> None:
    """Have gloo and NCCL use the interface that leads to this address, unless the user has chosen one."""
    if (name := interface_of(own_address_towards(address))) is not None:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", name)
        os.environ.setdefault("NCCL_SOCKET_IFNAME", f"={name}")  # exactly this one, not all that begin so
