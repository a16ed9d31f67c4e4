"""What this installation is: versions and where its other pages are."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import Field

from api.auth.scopes import Viewer
from api.readiness import Readiness
from api.routes.shapes import Shape

router = APIRouter(prefix="/api/v1", tags=["system"])


class System(Shape):
    """The installation at a glance."""

    version: str = Field(description="version of Lanista", examples=["0.1.0"])
    readiness: Readiness = Field(description="which parts answer")
    links: dict[str, str] = Field(
        description="pages of other parts by name: tensorboard, temporal", examples=[{"tensorboard": "http://..."}]
    )


@router.get("/system", summary="The installation at a glance")
async def system(request: Request, principal: Viewer) -> System:
    """Version, the state of each part, and links to TensorBoard and Temporal's page where they run."""
    settings = request.app.state.settings
    links = {"tensorboard": settings.tensorboard_url, "temporal": settings.temporal_ui_url}
    return System(
        version=request.app.version,
        readiness=await request.app.state.readiness.run(),
        links={name: url for name, url in links.items() if url},
    )
