"""The address of a caller, taken from a proxy's headers only where the proxy is trusted.

See docs/decisions/authentication.md.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.addresses import Address, Network, contains, read_address


class CallerAddress:
    """ASGI middleware: `scope["client"]` is the caller's parsed address, or None.

    X-Forwarded-For and X-Forwarded-Proto count only if the connection comes from a trusted proxy. The addresses are
    read from the right, where each proxy adds the address it saw: what a caller writes itself is further left.
    """

    def __init__(self, app: ASGIApp, trusted: tuple[Network, ...]) -> None:
        self._app = app
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (peer := scope.get("client")):
            address = read_address(peer[0])
            if address is not None and self._trusted and contains(self._trusted, address):
                headers = Headers(scope=scope)
                address = self._forwarded(address, headers.getlist("x-forwarded-for"))
                schemes = {value.strip().lower() for value in headers.getlist("x-forwarded-proto")}
                if len(schemes) == 1 and schemes <= {"http", "https"}:
                    scope["scheme"] = schemes.pop()
            scope["client"] = None if address is None else (str(address), peer[1])
        await self._app(scope, receive, send)

    def _forwarded(self, proxy: Address, headers: list[str]) -> Address:
        """The address nearest to us that is not a trusted proxy's."""
        found = proxy
        for text in reversed(",".join(headers).split(",")):
            address = read_address(text)
            if address is None:
                break
            found = address
            if not contains(self._trusted, address):
                break
        return found
