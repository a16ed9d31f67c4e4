"""Ratings of a trial's versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from api.schemas.enums import RatingMethod
from api.schemas.ratings import Rating, Ratings
from api.store.core.records import Record
from api.store.players.reads import get_version
from api.store.ratings.reads import DIFFERENCES, add_differences, fits_state, list_ratings, newest_fit
from api.store.trials.reads import require_trial
from api.web.auth.scopes import Viewer
from api.web.problems import ProblemError
from api.web.responses.csv_export import CSV_RESPONSE, PAGE, Form, FormQuery, csv_download
from api.web.responses.paging import CURSOR, EntityId, Limit
from api.web.responses.serialization import JSON, SerializingRoute, records_page
from api.web.services import Api, Services

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/trials/{trial_id}", tags=["league"])

COLUMNS = ("rank", "player", "number", "version_id", "value", "deviation", "low", "high", "games", "prior")
"""The first columns of the CSV file; other fields of the schema follow."""


@router.get("/ratings", summary="List ratings", response_model=Ratings, responses=CSV_RESPONSE)
def ratings(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    method: Annotated[RatingMethod, Query(description="the rating method")] = RatingMethod.BRADLEY_TERRY,
    against: Annotated[
        UUID | None,
        Query(
            description="a version of the fit, of any trial: each item then has its difference to it, with the "
            "95 % interval from the full covariance; with bradley_terry only"
        ),
    ] = None,
    form: FormQuery = Form.JSON,
    limit: Limit = 100,
    cursor: Annotated[int | None, Query(ge=0, le=1_000_000, description=CURSOR)] = None,
) -> Response:
    """The newest fit over rating games in which the trial takes part. Training and gating games never count."""
    if against is not None and method is not RatingMethod.BRADLEY_TERRY:
        raise ProblemError(422, f"query.against: {method} has no covariance; allowed with method=bradley_terry only")
    if against is None and form is Form.JSON:
        return _page_of_newest_fit(services, str(trial_id), method, cursor or 0, limit)
    page_size = PAGE * 20 if form is Form.CSV else limit + 1
    # one snapshot: a newer fit removes the covariance of the one before it
    with services.snapshots() as session:
        require_trial(session, str(trial_id))
        fit = newest_fit(session, str(trial_id), method)
        rows = [] if fit is None else list_ratings(session, fit["id"], str(trial_id), after=cursor, limit=page_size)
        if against is not None:
            get_version(session, str(against))
            if fit is not None and not add_differences(session, fit["id"], str(against), rows):
                raise ProblemError(422, _not_rated(str(against), fit["id"], rows))
    if form is Form.CSV:
        return csv_download(f"ratings-{trial_id}", _columns(with_differences=against is not None), [rows])
    return records_page(rows, limit, Rating, lambda _: (cursor or 0) + limit, fit=fit)


def _page_of_newest_fit(services: Services, trial_id: str, method: RatingMethod, after: int, limit: int) -> Response:
    """A page of the newest fit. Fits are never changed: until another is made, all readers get the same bytes."""
    with services.reads() as session:
        state = fits_state(session, trial_id)

        def write() -> bytes:
            fit = newest_fit(session, trial_id, method)
            rows = [] if fit is None else list_ratings(session, fit["id"], trial_id, after=after, limit=limit + 1)
            return bytes(records_page(rows, limit, Rating, lambda _: after + limit, fit=fit).body)

        page = services.rating_pages.get((trial_id, method, after, limit), write, state=state)
    return Response(page, media_type=JSON)


def _columns(*, with_differences: bool) -> list[str]:
    asked_for = [*COLUMNS, *(DIFFERENCES if with_differences else ())]
    return [*asked_for, *(name for name in Rating.model_fields if name not in (*COLUMNS, *DIFFERENCES))]


def _not_rated(against: str, fit_id: str, rows: Sequence[Record]) -> str:
    some = ", ".join(row["version_id"] for row in rows[:3])
    return f"query.against: version {against} is not in fit {fit_id}; allowed: a version that it rates, such as {some}"
