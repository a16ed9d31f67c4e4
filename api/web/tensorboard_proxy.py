"""Passes requests on to TensorBoard, and its answers back.

TensorBoard's pages show what user code wrote, so they run in a sandbox: a document without an origin, which can read
neither this page's storage nor the API's answers.

See docs/decisions/authentication.md.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

import httpx
from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from api.web.problems import ProblemError

UNIX = "unix:"
METHODS = ["GET", "HEAD", "POST", "OPTIONS"]
TIMEOUT = httpx.Timeout(60, connect=5)
LIMITS = httpx.Limits(max_connections=16, max_keepalive_connections=0)
SENT_ON = (
    "accept",
    "accept-encoding",
    "content-type",
    "if-none-match",
    "x-xsrf-protected",
    "x-tensorboard-feature-flags",
)
SENT_BACK = ("content-type", "content-encoding", "content-length", "cache-control", "etag", "expires", "location")
HEADERS = {
    "Content-Security-Policy": (
        "sandbox allow-scripts allow-downloads allow-modals; default-src 'self'; script-src 'self' 'unsafe-eval'; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; worker-src blob:; "
        "frame-ancestors 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"
    ),
    # a sandboxed document is of no origin, so its own requests count as foreign; the ticket is what admits them
    "Access-Control-Allow-Origin": "null",
    "Access-Control-Allow-Credentials": "true",
    "Access-Control-Allow-Methods": ", ".join(METHODS),
    "Access-Control-Allow-Headers": "Content-Type, X-XSRF-Protected, X-TensorBoard-Feature-Flags",
}


SANDBOX_SCRIPT = '<script src="/static/core/tensorboard_sandbox.js"></script>'


class TensorBoardProxy:
    """Passes requests on to TensorBoard at `upstream`: `http://host:port`, or `unix:/path` of a socket."""

    def __init__(self, upstream: str) -> None:
        socket = upstream.removeprefix(UNIX) if upstream.startswith(UNIX) else None
        self._client = httpx.AsyncClient(
            base_url="http://tensorboard" if socket else upstream,
            transport=httpx.AsyncHTTPTransport(uds=socket, limits=LIMITS),
            timeout=TIMEOUT,
        )

    async def pass_on(self, request: Request, path: str) -> Response:
        """TensorBoard's answer to this request, as it arrives."""
        headers = {name: request.headers[name] for name in SENT_ON if name in request.headers}
        try:
            address = httpx.URL(path=f"/{path.lstrip('/')}", query=request.url.query.encode() or None)
        except httpx.InvalidURL:
            raise ProblemError(404, "TensorBoard has no such address") from None
        sent = self._client.build_request(request.method, address, content=await request.body(), headers=headers)
        try:
            if path in ("", "index.html"):
                return _sandboxed(await self._client.send(sent))
            answer = await self._client.send(sent, stream=True)
        except httpx.TransportError:
            raise ProblemError(503, "TensorBoard does not answer; try again", headers={"Retry-After": "2"}) from None
        kept = {name: answer.headers[name] for name in SENT_BACK if name in answer.headers}
        return StreamingResponse(_body(answer), answer.status_code, {**kept, **HEADERS})

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _sandboxed(answer: httpx.Response) -> Response:
    """TensorBoard's page, with what it needs in the sandbox and without addresses outside the ticket's folder."""
    page = SANDBOX_SCRIPT + answer.text.replace("url(/", "url(")
    headers = {**HEADERS, "Cache-Control": "no-cache"}
    return Response(page, answer.status_code, headers, media_type="text/html")


async def _body(answer: httpx.Response) -> AsyncIterator[bytes]:
    try:
        with suppress(httpx.TransportError):  # the length is announced, so the browser notices that it broke off
            async for piece in answer.aiter_raw():
                yield piece
    finally:
        await answer.aclose()
