"""Authorization of callers: local peers, peers with a token, trusted networks; and TLS."""

from __future__ import annotations

import hmac
import ssl
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any

from orchestrator.settings import SettingsError

Network = IPv4Network | IPv6Network
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def parse_networks(text: str) -> tuple[Network, ...]:
    """Networks from `10.0.0.0/8, fd00::/8`; raises ValueError with the part that is none."""
    return tuple(ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip())


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Access:
    """Decides whether a peer may call: by its address, or by a token it sends."""

    def __init__(self, tokens: Sequence[str] = (), trusted: Sequence[Network] = ()) -> None:
        self._tokens = tuple(token.encode() for token in tokens if token)
        self._trusted = tuple(trusted)

    @property
    def is_open(self) -> bool:
        """Whether every peer that can connect may call."""
        return not self._tokens and not self._trusted

    @property
    def has_trusted_networks(self) -> bool:
        """Whether the address of a peer may suffice."""
        return bool(self._trusted)

    def trusts(self, peer: Any) -> bool:
        """Whether a peer needs no token. `peer` is a transport's `peername`: of unix sockets an empty string."""
        if self.is_open:
            return True
        if not self._trusted or not isinstance(peer, tuple):
            return False
        address: IPv4Address | IPv6Address = ip_address(str(peer[0]).partition("%")[0])
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in network for network in self._trusted if network.version == address.version)

    def knows(self, token: bytes) -> bool:
        """Whether this is a token of ours. Takes the same time for each wrong one."""
        found = False
        for own in self._tokens:
            found |= hmac.compare_digest(token, own)
        return found


def bearer(value: bytes) -> bytes:
    """The token of an `Authorization` header, or nothing."""
    scheme, _, token = value.strip().partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""


def check_exposure(host: str, access: Access) -> None:
    """Refuse to listen beyond this machine for everybody."""
    if access.is_open and not is_loopback(host):
        raise SettingsError(
            f"LANISTA_GATEWAY_HOST={host!r}: other machines can reach this address. Set LANISTA_GATEWAY_TOKEN, which "
            "games then send, or LANISTA_GATEWAY_TRUSTED, the networks whose games need none."
        )


def tls_context(
    certificate: Path | None, key: Path | None, setting: str = "LANISTA_GATEWAY_TLS_CERT"
) -> ssl.SSLContext | None:
    """TLS by certificate files, which the setting names; None where there are none."""
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            f"{setting}={str(certificate)!r}: no certificate and key can be read there: {error}"
        ) from None
    return context
