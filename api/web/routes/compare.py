"""Several trials side by side."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.schemas.compare import Comparison
from api.store.comparison.compare import compare_trials
from api.web.auth.scopes import Viewer
from api.web.responses.serialization import SerializingRoute
from api.web.services import Api

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/compare", tags=["league"])


@router.get("", summary="Compare trials", responses={404: {"description": "there is no such trial"}})
def compare(
    services: Api,
    principal: Viewer,
    trial: Annotated[list[UUID], Query(min_length=2, max_length=50, description="the trials, two or more")],
    metric: Annotated[
        list[Annotated[str, Query(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]] | None,
        Query(description="only these metrics", max_length=50),
    ] = None,
    points: Annotated[int, Query(ge=1, le=5000, description="the largest number of points of a curve")] = 500,
) -> Comparison:
    """What differs in the trials' files, their curves, and recorded rating games between their champions."""
    with services.snapshots() as session:
        return compare_trials(session, [str(each) for each in trial], metric or (), points)
