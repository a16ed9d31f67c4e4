"""The payoff as matrices: one document a revision, by ETag, compressed."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import Field

from api.schemas.base import Shape
from api.web.auth.scopes import Viewer
from api.web.responses.csv_export import CSV, Form, FormQuery
from api.web.responses.paging import EntityId
from api.web.responses.serialization import ReadyRoute
from api.web.services import Api
from league.types import Role

router = APIRouter(route_class=ReadyRoute, prefix="/api/v1/trials/{trial_id}", tags=["league"])

Matrix = list[list[float | None]]
Counts = list[list[int]]


class PayoffPlayer(Shape):
    """The player of one row, and of the column of the same number."""

    id: str = Field(description="its id")
    name: str = Field(description="its name", examples=["main"])
    role: Role = Field(description="its role")
    status: str = Field(description="active or retired", examples=["active"])


class Payoff(Shape):
    """Who does how well against whom: row against column."""

    trial_id: str = Field(description="the trial")
    stream: str = Field(description="which games are counted", examples=["all"])
    revision: int = Field(description="the commit that last changed the payoff", examples=[17])
    decay: float = Field(description="what a game leaves of the weight of those before it", examples=[0.99995])
    min_games: int = Field(description="games below which a win rate counts as 0.5", examples=[8])
    players: list[PayoffPlayer] = Field(description="the players, in the order of rows and columns")
    win_rate: Matrix = Field(description="decayed win rate, the mean over seats; null where the two never met")
    low: Matrix = Field(description="lower end of its 95 % interval")
    high: Matrix = Field(description="upper end of its 95 % interval")
    wins: Counts = Field(description="games won, undecayed")
    draws: Counts = Field(description="games drawn, undecayed")
    losses: Counts = Field(description="games lost, undecayed")
    mean_return: Matrix = Field(
        description="what the row earned a game, decayed, the mean over seats; null where the two never met or "
        "their games were counted without returns"
    )


@router.get(
    "/payoff",
    summary="Who does how well against whom",
    response_model=Payoff,
    responses={
        200: {"content": {"text/csv": {"schema": {"type": "string"}}}},
        304: {"description": "It is as you know it (If-None-Match)"},
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
        str | None, Header(alias="If-None-Match", max_length=500, description="the ETag that you have")
    ] = None,
) -> Response:
    """Column matrices, serialised once per commit and sent compressed. Ask again with the ETag: 304 costs nothing."""
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
