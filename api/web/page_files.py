"""Serves the page's files, and the chart library from its wheel, so that the page needs no other host.

See docs/decisions/page-and-live-views.md.
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

PAGE = Path(__file__).parent / "page"
SEGMENTS = (
    "trials",
    "tournaments",
    "schedules",
    "alerts",
    "sweeps",
    "compare",
    "players",
    "versions",
    "matches",
    "people-games",
    "play",
    "system",
    "tensorboard",
    "signin",
)
"""First segments of the page's addresses. The page's own router shows what follows; other addresses are 404, and a
browser gets the page, which says so."""
LIBRARY = "/static/vendor/plotly.min.js"
FOR_A_DAY = {"Cache-Control": "public, max-age=86400", "Vary": "Accept-Encoding"}


def install_page(app: FastAPI) -> None:
    """Serve the page at / and below each of its first segments."""
    router = APIRouter(include_in_schema=False)
    router.add_api_route(LIBRARY, chart_library)
    for path in ("/", *(f"/{segment}" for segment in SEGMENTS), *(f"/{segment}/{{rest:path}}" for segment in SEGMENTS)):
        router.add_api_route(path, page)
    app.include_router(router)
    app.mount("/static", PageFiles(directory=PAGE / "static"), name="static")


async def page() -> FileResponse:
    """The page's one HTML document; its router shows what the address names."""
    return page_response()


def page_response(status: int = 200) -> FileResponse:
    """The document; with 404 for an address that the page does not have either, and says so."""
    return FileResponse(PAGE / "index.html", status, headers={"Cache-Control": "no-cache"})


def shows_page(request: Request) -> bool:
    """Whether a person looks at an unknown address in a browser: a program gets JSON, and so do calls of the API."""
    reads = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
    return reads and not request.url.path.startswith(("/api/", "/static/"))


def chart_library(request: Request) -> Response:
    """Plotly, from its wheel."""
    plain, compressed = _library()
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(compressed, media_type="text/javascript", headers={**FOR_A_DAY, "Content-Encoding": "gzip"})
    return Response(plain, media_type="text/javascript", headers=FOR_A_DAY)


@cache
def _library() -> tuple[bytes, bytes]:
    plain = files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    return plain, gzip.compress(plain, 4)


class PageFiles(StaticFiles):
    """Static files that a browser revalidates each time, so that cached files are never mixed with newer ones."""

    def file_response(self, *args: object, **options: object) -> Response:
        response: Response = super().file_response(*args, **options)  # type: ignore[arg-type]
        response.headers["Cache-Control"] = "no-cache"
        return response
