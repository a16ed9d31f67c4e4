"""Ratings of a trial's versions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from api.auth.scopes import Viewer
from api.routes.exports import CSV_RESPONSE, PAGE, Form, FormQuery, csv_download
from api.routes.paging import EntityId, Limit
from api.routes.ready import ReadyRoute, record_response, shaped
from api.routes.shapes import Shape, Utc
from api.service.context import Api
from api.store.models.words import RatingMethod
from api.store.queries.ratings import newest_fit, ratings_of
from api.store.queries.records import Record
from api.store.queries.trials import require_trial

router = APIRouter(route_class=ReadyRoute, prefix="/api/v1/trials/{trial_id}", tags=["league"])

Z95 = 1.959963984540054
COLUMNS = ("rank", "player", "number", "version_id", "value", "deviation", "low", "high", "games", "prior")


class Fit(Shape):
    """What the ratings were reckoned from."""

    id: str = Field(description="its id")
    method: RatingMethod = Field(description="how")
    games: int = Field(description="from how many rating games", examples=[1200])
    last_match_id: int = Field(description="the newest game among them", examples=[5000])
    anchor_version_id: str | None = Field(description="the version whose rating is 0 by definition")
    tournament_id: str | None = Field(description="the tournament after which it was made")
    settings: dict[str, Any] = Field(description="how it was fitted; with nash_averaging the equilibrium: `mixture`")
    depends_on_order: bool = Field(
        description="true: reckoned game by game as they were recorded, for the live view; in another order the same "
        "games give other values"
    )
    created_at: Utc = Field(description="when")


class Rating(Shape):
    """One version's place."""

    rank: int = Field(description="its place among all versions of the fit", examples=[1])
    version_id: str = Field(description="the version")
    player_id: str = Field(description="its player")
    player: str = Field(description="the player's name", examples=["main"])
    number: int = Field(description="the version's number", examples=[12])
    steps: int = Field(description="environment steps its player had learnt from", examples=[12_000_000])
    value: float = Field(description="Elo above the anchor, or the method's own measure", examples=[212.5])
    deviation: float | None = Field(description="standard error against the anchor", examples=[14.2])
    low: float | None = Field(description="lower end of the 95 % interval against the anchor")
    high: float | None = Field(description="upper end of it")
    games: int = Field(description="its rating games", examples=[400])
    prior: bool = Field(description="true: held finite only by the stated prior")


class Ratings(Shape):
    """A page of ratings, and the fit they belong to."""

    fit: Fit | None = Field(description="null while there are no rating games")
    items: list[Rating] = Field(description="the best first")
    next_cursor: str | None = Field(description="the cursor of the next page; null on the last one")


@router.get("/ratings", summary="Ratings", response_model=Ratings, responses=CSV_RESPONSE)
def ratings(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    method: Annotated[RatingMethod, Query(description="how to rate")] = RatingMethod.BRADLEY_TERRY,
    form: FormQuery = Form.JSON,
    limit: Limit = 100,
    cursor: Annotated[int | None, Query(ge=0, le=1_000_000, description="where the page before ended")] = None,
) -> Response:
    """The newest fit over rating games. Training and gating games never count."""
    with services.reads() as session:
        require_trial(session, str(trial_id))
        fit = newest_fit(session, str(trial_id), method)
        most = PAGE * 20 if form is Form.CSV else limit + 1
        rows = [] if fit is None else ratings_of(session, fit.id, str(trial_id), after=cursor, limit=most)
        if form is Form.CSV:
            pages = [[Rating.model_validate(_with_interval(row)) for row in rows]]
            return csv_download(f"ratings-{trial_id}", COLUMNS, pages)
        following = (cursor or 0) + limit
        return record_response(
            {
                "fit": None if fit is None else Fit.model_validate(fit).model_dump(mode="json"),
                "items": [shaped(_with_interval(row), Rating) for row in rows[:limit]],
                "next_cursor": str(following) if len(rows) > limit else None,
            }
        )


def _with_interval(row: Record) -> Record:
    half = None if row["deviation"] is None else Z95 * row["deviation"]
    low, high = (None, None) if half is None else (row["value"] - half, row["value"] + half)
    return {**row, "low": low, "high": high}
