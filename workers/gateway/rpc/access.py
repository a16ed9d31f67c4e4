"""Authorization of gRPC calls: the same peers and tokens as over the other transports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias
from urllib.parse import unquote

import grpc

from workers.gateway.auth import Access, bearer
from workers.gateway.contract import Refused
from workers.gateway.rpc.binding import Check, Context

UNKNOWN_CALLER = "send the gateway's token as metadata: authorization: Bearer TOKEN"
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


def interceptors_for(access: Access) -> list[grpc.aio.ServerInterceptor]:
    """What refuses callers before their messages are read.

    An interceptor does not know a caller's address. Where that may suffice, `check_by` refuses after the first message.
    """
    return [] if access.is_open or access.has_trusted_networks else [_TokenFirst(access)]


class _TokenFirst(grpc.aio.ServerInterceptor):
    """Lets only callers with a token reach a method."""

    def __init__(self, access: Access) -> None:
        self._access = access
        # stream_stream fits any kind of method: the handler runs, and refuses, before a message is read
        self._refusing: Handler = grpc.stream_stream_rpc_method_handler(_refuse)

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        if self._access.knows(_token(handler_call_details.invocation_metadata)):
            return await continuation(handler_call_details)
        return self._refusing


async def _refuse(requests: Any, context: Context) -> None:
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, UNKNOWN_CALLER)


def check_by(access: Access) -> Check:
    """A check of callers by their address, or by the metadata `authorization: Bearer TOKEN` or `token: TOKEN`."""

    def check(context: Context) -> None:
        if not access.trusts(peer_of(context.peer())) and not access.knows(_token(context.invocation_metadata())):
            raise Refused(401, UNKNOWN_CALLER)

    return check


def peer_of(text: str) -> Any:
    """The address that gRPC writes as `ipv4:127.0.0.1:5000` or `ipv6:%5B::1%5D:5000`; "" for others."""
    kind, _, rest = unquote(text).partition(":")
    if kind not in ("ipv4", "ipv6"):
        return ""
    host, _, port = rest.rpartition(":")
    return host.strip("[]"), int(port) if port.isdigit() else 0


def _token(metadata: Iterable[Any] | None) -> bytes:
    found = {str(key): value for key, value in metadata or ()}
    for key in ("token", "key"):
        if key in found:
            return _bytes(found[key])
    return bearer(_bytes(found.get("authorization", b"")))


def _bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()
