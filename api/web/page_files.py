"""The page's own files, and the chart library from its wheel, so that the page needs no other network."""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

PAGE = Path(__file__).parent / "page"
PLACES = ("trials", "tournaments", "schedules", "versions", "matches", "play", "system", "signin")
"""First parts of the page's addresses. The page itself tells which of them it has; others are nobody's."""
LIBRARY = "/static/vendor/plotly.min.js"
FOR_A_DAY = {"Cache-Control": "public, max-age=86400", "Vary": "Accept-Encoding"}


def install_page(app: FastAPI) -> None:
    """Serve the page at / and at every address below its places."""
    router = APIRouter(include_in_schema=False)
    router.add_api_route(LIBRARY, chart_library)
    for path in ("/", *(f"/{place}" for place in PLACES), *(f"/{place}/{{rest:path}}" for place in PLACES)):
        router.add_api_route(path, page)
    app.include_router(router)
    app.mount("/static", PageFiles(directory=PAGE / "static"), name="static")


async def page() -> FileResponse:
    """The one document; what it shows depends on its address."""
    return FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-cache"})


def chart_library(request: Request) -> Response:
    """Plotly as its wheel brings it."""
    plain, compressed = _library()
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(compressed, media_type="text/javascript", headers={**FOR_A_DAY, "Content-Encoding": "gzip"})
    return Response(plain, media_type="text/javascript", headers=FOR_A_DAY)


@cache
def _library() -> tuple[bytes, bytes]:
    plain = files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    return plain, gzip.compress(plain, 4)


class PageFiles(StaticFiles):
    """Static files that a browser asks for again, so that an upgrade is never mixed with what it kept."""

    def file_response(self, *args: object, **options: object) -> Response:
        response: Response = super().file_response(*args, **options)  # type: ignore[arg-type]
        response.headers["Cache-Control"] = "no-cache"
        return response
