"""Which addresses alerts may call: public ones, and those that a setting allows.

A name is looked up once and the connection goes to the address that was checked, so that a second look-up cannot lead
elsewhere. Redirects are not followed.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from api.addresses import Address, Network, contains
from api.alerts.errors import AddressRefused, NotDelivered

SETTING = "LANISTA_ALERT_NETWORKS"
NAT64 = ipaddress.ip_network("64:ff9b::/96")
"""The last four bytes are an IPv4 address, which a translator calls."""


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """Where a URL leads: the address to connect to, and the name to ask for."""

    scheme: str
    host: str
    port: int
    path: str
    address: str

    @property
    def host_header(self) -> str:
        """The host with its port, unless that is the scheme's own."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == _port_of(self.scheme) else f"{name}:{self.port}"


def check_url(url: str, allowed: Sequence[Network]) -> None:
    """Refuse a URL that can never be called, without looking up its name."""
    scheme, host, *_ = _parts(url)
    if scheme == "http" and not allowed:
        raise AddressRefused(f"http:// is allowed only to addresses that {SETTING} names; use https://")
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        return
    check_address(literal, scheme, allowed)


def find_receiver(url: str, allowed: Sequence[Network]) -> Receiver:
    """Look up the host of a URL, once; every address that it has must be allowed."""
    scheme, host, port, path = _parts(url)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotDelivered(f"the name {host} cannot be looked up: {_reason(error)}") from None
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    for address in addresses:
        check_address(address, scheme, allowed)
    return Receiver(scheme=scheme, host=host, port=port, path=path, address=str(addresses[0]))


def check_address(address: Address, scheme: str, allowed: Sequence[Network]) -> None:
    """Refuse an address that is neither public nor allowed; an IPv4 address within IPv6 counts as itself."""
    actual = embedded_ipv4(address) or address
    if contains(allowed, actual) or contains(allowed, address):
        return
    mapped = isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None
    if not is_public(actual) or not (mapped or is_public(address)):
        raise AddressRefused(f"{address} is no public address; {SETTING} names others that may be called")
    if scheme == "http":
        raise AddressRefused(f"http:// is allowed only to addresses that {SETTING} names; use https://")


def is_public(address: Address) -> bool:
    """Whether the address is globally routed unicast: not private, loopback, link-local, multicast or reserved."""
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not address.is_unspecified
        and not address.is_loopback
        and not address.is_link_local
        and not getattr(address, "is_site_local", False)
    )


def embedded_ipv4(address: Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for: mapped, compatible, 6to4, Teredo or NAT64."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    number = int(address)
    if address in NAT64 or 1 < number < 1 << 32:
        return ipaddress.IPv4Address(number & 0xFFFF_FFFF)
    return None


def _parts(url: str) -> tuple[str, str, int, str]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise AddressRefused(f"the URL cannot be read: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AddressRefused("the URL must be https://host/path")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused("the URL must hold no user or password; messages are signed instead")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return parts.scheme, parts.hostname.rstrip("."), port or _port_of(parts.scheme), path


def shown_url(url: str) -> str:
    """What is shown of a URL: its host, for the path may be a secret."""
    scheme, host, port, _ = _parts(url)
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}" + ("" if port == _port_of(scheme) else f":{port}") + "/…"


def _port_of(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__
