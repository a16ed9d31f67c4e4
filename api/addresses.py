"""IP addresses of callers: parsed, and grouped for limits."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

UNKNOWN = "unknown"
"""The key of callers without an IP address, such as those of a Unix socket."""
IPV6_PREFIX = 64
"""A single subscriber has a whole /64, so that a limit for each address would be none."""


def read_networks(text: str) -> tuple[Network, ...]:
    """Addresses and networks (CIDR), separated by commas; raises ValueError with the one that cannot be read."""
    found = []
    for part in (part.strip() for part in text.split(",")):
        if not part:
            continue
        try:
            found.append(ipaddress.ip_network(part))
        except ValueError as error:
            raise ValueError(f"{part!r} is neither an address nor a network: {error}") from None
    return tuple(found)


def read_address(text: str) -> Address | None:
    """The address, also if it has a port; None if it is none. IPv4 within IPv6 counts as IPv4."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def limit_key(host: str | None) -> str:
    """What a limit for each address counts by: the address, for IPv6 its network."""
    address = None if host is None else read_address(host)
    if address is None:
        return UNKNOWN
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((address, IPV6_PREFIX), strict=False))


def contains(networks: Iterable[Network], address: Address) -> bool:
    return any(address in network for network in networks)
