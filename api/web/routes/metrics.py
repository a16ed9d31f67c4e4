"""Metrics of generations, as series."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import Field

from api.schemas.base import Page
from api.schemas.metrics import MetricNames, Series
from api.store.generations.metrics import MetricFilter, metric_names, metric_series, metrics_state
from api.store.trials.reads import require_trial
from api.web.auth.scopes import Viewer
from api.web.responses.paging import CURSOR, EntityId, text_of
from api.web.responses.serialization import JSON, SerializingRoute, records_page
from api.web.services import Api

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/trials/{trial_id}", tags=["league"])

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]


@router.get("/metrics/names", summary="List the names of metrics")
def metric_names_of(trial_id: EntityId, services: Api, principal: Viewer) -> MetricNames:
    """All metrics that some player of the trial has."""
    with services.reads() as session:
        require_trial(session, str(trial_id))
        return MetricNames(names=metric_names(session, str(trial_id)))


@router.get("/metrics", summary="List metrics as series", response_model=Page[Series])
def metrics(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    player_id: Annotated[UUID | None, Query(description="only of this player")] = None,
    name: Annotated[list[Name] | None, Query(description="only these metrics")] = None,
    after_generation: Annotated[int, Query(ge=0, le=2**31 - 1, description="only later generations")] = 0,
    points: Annotated[
        int, Query(ge=1, le=5000, description="the largest number of points of a series; the newest ones")
    ] = 500,
    spread: Annotated[
        bool, Query(description="true: the points are spread over the whole series instead of its newest ones")
    ] = False,
    times: Annotated[bool, Query(description="true: with the time at which each generation was recorded")] = False,
    limit: Annotated[int, Query(ge=1, le=500, description="the largest number of series on a page")] = 100,
    cursor: Annotated[int | None, Query(ge=0, le=1_000_000, description=CURSOR)] = None,
) -> Response:
    """One series for each player and metric. `after_generation` returns only newer points."""
    which = MetricFilter(
        player_id=text_of(player_id),
        names=tuple(name or ()),
        after_generation=after_generation,
        points=points,
        spread=spread,
        times=times,
    )
    skip = cursor or 0
    with services.reads() as session:
        state = metrics_state(session, str(trial_id))

        def write() -> bytes:
            rows = metric_series(session, str(trial_id), which, skip=skip, limit=limit + 1)
            return bytes(records_page(rows, limit, Series, lambda _: skip + limit).body)

        page = services.metric_pages.get((trial_id, which, skip, limit), write, state=state)
    return Response(page, media_type=JSON)
