"""Makes a client's connections only while the local API's own process listens at the address.

The check comes before and after each connection is made. If the same process listened both times, the connection goes
to it: a port has one listener. Nothing, and so no token, is sent before that. Requests over an open connection cost
nothing more.

See docs/decisions/client-and-command-line.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx

from lanista.stack.errors import StackError

Owner = Callable[[], object]
"""Identifies the process that owns the address now; raises StackError if that is not ours."""
STARTED, COMPLETE = "connection.connect_tcp.started", "connection.connect_tcp.complete"


def only_to(owner: Owner) -> dict[str, Any]:
    """Arguments of `httpx.Client`."""

    def attach(request: httpx.Request) -> None:
        check = _Check(owner)

        def trace(event: str, info: dict[str, Any]) -> None:
            if not check.allows(event):
                info["return_value"].close()
                raise check.refusal()

        request.extensions["trace"] = trace

    return _options(attach)


def only_to_async(owner: Owner) -> dict[str, Any]:
    """Arguments of `httpx.AsyncClient`."""

    async def attach(request: httpx.Request) -> None:
        check = _Check(owner)

        async def trace(event: str, info: dict[str, Any]) -> None:
            if not check.allows(event):
                await info["return_value"].aclose()
                raise check.refusal()

        request.extensions["trace"] = trace

    return _options(attach)


def _options(attach: Callable[[httpx.Request], Any]) -> dict[str, Any]:
    # a proxy of the environment would get the token
    return {"event_hooks": {"request": [attach]}, "trust_env": False}


class _Check:
    """The two looks at one connection."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._before: object = None
        self._reason = "another process took the port meanwhile"

    def allows(self, event: str) -> bool:
        """Whether to go on; raises ConnectError if there is nothing to connect to."""
        if event == STARTED:
            try:
                self._before = self._owner()
            except StackError as error:
                raise httpx.ConnectError(str(error)) from None
        elif event == COMPLETE:
            try:
                return self._before == self._owner()
            except StackError as error:
                self._reason = str(error)
                return False
        return True

    def refusal(self) -> httpx.ConnectError:
        """The error for a connection that is closed unused. It is one that a client retries: the API may restart."""
        return httpx.ConnectError(self._reason)
