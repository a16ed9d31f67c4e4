"""Who may call over gRPC: the same peers and tokens as over the other transports."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from workers.gateway.auth import Access, bearer
from workers.gateway.contract import Refused
from workers.gateway.rpc.binding import Check, Context


def check_by(access: Access) -> Check:
    """A check of callers by their address, or by the metadata `authorization: Bearer TOKEN` or `token: TOKEN`."""

    def check(context: Context) -> None:
        if not access.trusts(peer_of(context.peer())) and not access.knows(_token(context)):
            raise Refused(401, "send the gateway's token as metadata: authorization: Bearer TOKEN")

    return check


def peer_of(text: str) -> Any:
    """The address that gRPC writes as `ipv4:127.0.0.1:5000` or `ipv6:%5B::1%5D:5000`; "" for others."""
    kind, _, rest = unquote(text).partition(":")
    if kind not in ("ipv4", "ipv6"):
        return ""
    host, _, port = rest.rpartition(":")
    return host.strip("[]"), int(port) if port.isdigit() else 0


def _token(context: Context) -> bytes:
    found = {str(key): value for key, value in context.invocation_metadata() or ()}
    for key in ("token", "key"):
        if key in found:
            return _bytes(found[key])
    return bearer(_bytes(found.get("authorization", b"")))


def _bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()
