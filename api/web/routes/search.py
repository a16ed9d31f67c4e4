"""The search over names."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from api.schemas.search import SearchResults
from api.store.search.find import search
from api.web.auth.scopes import Viewer
from api.web.responses.serialization import SerializingRoute
from api.web.services import Api

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/search", tags=["search"])


@router.get("", summary="Search by name")
def find(
    services: Api,
    principal: Viewer,
    q: Annotated[
        str,
        Query(
            min_length=1,
            max_length=200,
            pattern=r"^[^\x00]+$",
            description="words of a name, or an id; `first-league main v12` finds a version",
            examples=["main-3"],
        ),
    ],
    limit: Annotated[int, Query(ge=1, le=50, description="the largest number of results of each kind")] = 6,
) -> SearchResults:
    """Trials and sweeps with all the words; players, versions and tournaments whose names begin with the last one."""
    with services.reads() as session:
        return SearchResults(items=search(session, q, limit=limit))
