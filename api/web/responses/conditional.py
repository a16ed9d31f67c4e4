"""Answers that a caller has already, or takes compressed, cost few bytes: 304 by a hash of the body, and gzip.

See docs/decisions/page-and-live-views.md.
"""

from __future__ import annotations

import gzip
from hashlib import blake2b

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

LEAST_BYTES = 1024
"""Below this, headers cost as much as the body."""
LARGE_BYTES = 32 * 1024
"""From this size on a body is compressed in a thread: at level 1 it takes a millisecond for every 100 kB."""
COMPRESSIBLE = ("application/json", "text/csv")


async def shrink(request: Request, response: Response) -> Response:
    """The answer to a GET with an ETag; 304 where the caller has it; compressed where the caller reads gzip.

    An answer that has its own ETag (a revision, a digest) keeps it; a revision is compared by its own route.
    """
    body = getattr(response, "body", b"")
    if response.status_code != 200 or len(body) < LEAST_BYTES or not _is_text(response):
        return response
    response.headers.add_vary_header("Accept-Encoding")
    etag = response.headers.get("etag")
    if etag is None:
        response.headers["ETag"] = etag = weak_etag(body)
    if etag.startswith("W/") and etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers={"ETag": etag, "Vary": response.headers["vary"]})
    if "content-encoding" in response.headers or "gzip" not in request.headers.get("accept-encoding", ""):
        return response
    small = gzip.compress(body, 1) if len(body) < LARGE_BYTES else await run_in_threadpool(gzip.compress, body, 1)
    response.body = small
    response.headers["Content-Length"] = str(len(small))
    response.headers["Content-Encoding"] = "gzip"
    return response


def weak_etag(body: bytes) -> str:
    """A name for these bytes; weak, since they may be sent compressed."""
    return f'W/"{blake2b(body, digest_size=12).hexdigest()}"'


def _is_text(response: Response) -> bool:
    return response.headers.get("content-type", "").startswith(COMPRESSIBLE)
