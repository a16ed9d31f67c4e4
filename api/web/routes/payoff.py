"""The payoff as matrices: one compressed document for each revision, with an ETag."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Request, Response

from api.schemas.base import Page
from api.schemas.payoff import LineupResults, Payoff
from api.store.payoffs.lineups import lineup_results
from api.store.trials.reads import require_trial
from api.web.auth.scopes import Viewer
from api.web.responses.csv_export import CSV, Form, FormQuery
from api.web.responses.paging import CURSOR, EntityId, Limit
from api.web.responses.serialization import SerializingRoute, records_page
from api.web.services import Api

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/trials/{trial_id}", tags=["league"])


@router.get(
    "/payoff",
    summary="Get the payoff matrices",
    response_model=Payoff,
    responses={
        200: {"content": {"text/csv": {"schema": {"type": "string"}}}},
        304: {"description": "Not modified (If-None-Match)"},
    },
)
def payoff(
    trial_id: EntityId,
    request: Request,
    services: Api,
    principal: Viewer,
    stream: Annotated[
        Literal["all", "training", "rating"],
        Query(description="all: what matchmaking reads. Gating games count for their gate and nowhere else"),
    ] = "all",
    form: FormQuery = Form.JSON,
    if_none_match: Annotated[
        str | None, Header(alias="If-None-Match", max_length=500, description="the ETag of the copy you have")
    ] = None,
) -> Response:
    """Column matrices, serialised once per commit and sent compressed. 304 for a request with the current ETag."""
    document = services.payoffs.get(str(trial_id), stream, form.value, if_none_match or "")
    headers = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if document is None:
        return Response(status_code=304, headers=headers | {"ETag": (if_none_match or "").strip()})
    headers["ETag"] = document.etag
    media_type = "application/json"
    if form is Form.CSV:
        media_type = CSV
        headers["Content-Disposition"] = f'attachment; filename="payoff-{trial_id}.csv"'
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(document.compressed, headers={**headers, "Content-Encoding": "gzip"}, media_type=media_type)
    return Response(document.body, headers=headers, media_type=media_type)


@router.get("/payoff/lineups", summary="List the results of mixed line-ups", response_model=Page[LineupResults])
def lineups(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    limit: Limit = 50,
    cursor: Annotated[int | None, Query(ge=0, le=1_000_000, description=CURSOR)] = None,
) -> Response:
    """Teams that a learner shared with a mate (`league.mates`), the most played first."""
    skip = cursor or 0
    with services.reads() as session:
        require_trial(session, str(trial_id))
        rows = lineup_results(session, str(trial_id), skip=skip, limit=limit + 1)
    return records_page(rows, limit, LineupResults, lambda _: skip + limit)
