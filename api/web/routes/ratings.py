"""Ratings of a trial's versions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from api.schemas.enums import RatingMethod
from api.schemas.ratings import Fit, Rating, Ratings
from api.store.core.engine import Session
from api.store.core.records import Record
from api.store.players.reads import get_version
from api.store.ratings.reads import difference_variances, newest_fit, ratings_of, value_in_fit
from api.store.tables import RatingFit
from api.store.trials.reads import require_trial
from api.web.auth.scopes import Viewer
from api.web.problems import Refusal
from api.web.responses.csv_export import CSV_RESPONSE, PAGE, Form, FormQuery, csv_download
from api.web.responses.paging import EntityId, Limit, text_of
from api.web.responses.serialization import ReadyRoute, record_response, shaped
from api.web.services import Api

router = APIRouter(route_class=ReadyRoute, prefix="/api/v1/trials/{trial_id}", tags=["league"])

Z95 = 1.959963984540054
COLUMNS = ("rank", "player", "number", "version_id", "value", "deviation", "low", "high", "games", "prior")
DIFFERENCES = ("difference", "difference_low", "difference_high")


@router.get("/ratings", summary="Ratings", response_model=Ratings, responses=CSV_RESPONSE)
def ratings(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    method: Annotated[RatingMethod, Query(description="how to rate")] = RatingMethod.BRADLEY_TERRY,
    against: Annotated[
        UUID | None,
        Query(
            description="a version of the fit, of whatever trial: each item then has its difference to it, with the "
            "95 % interval from the full covariance; with bradley_terry only"
        ),
    ] = None,
    form: FormQuery = Form.JSON,
    limit: Limit = 100,
    cursor: Annotated[int | None, Query(ge=0, le=1_000_000, description="where the page before ended")] = None,
) -> Response:
    """The newest fit over rating games in which the trial takes part. Training and gating games never count."""
    if against is not None and method is not RatingMethod.BRADLEY_TERRY:
        raise Refusal(422, f"query.against: {method} has no covariance; allowed with method=bradley_terry only")
    page_size = PAGE * 20 if form is Form.CSV else limit + 1
    # one snapshot: a newer fit removes the covariance of the one before it
    with services.snapshots() as session:
        require_trial(session, str(trial_id))
        if against is not None:
            get_version(session, str(against))
        fit, rows = _read(session, str(trial_id), method, cursor, page_size, text_of(against))
        if form is Form.CSV:
            columns = COLUMNS if against is None else (*COLUMNS, *DIFFERENCES)
            return csv_download(f"ratings-{trial_id}", columns, [[Rating.model_validate(row) for row in rows]])
        following = (cursor or 0) + limit
        return record_response(
            {
                "fit": None if fit is None else Fit.model_validate(fit).model_dump(mode="json"),
                "items": [shaped(row, Rating) for row in rows[:limit]],
                "next_cursor": str(following) if len(rows) > limit else None,
            }
        )


def _read(
    session: Session,
    trial_id: str,
    method: RatingMethod,
    cursor: int | None,
    limit: int,
    against: str | None,
) -> tuple[RatingFit | None, list[Record]]:
    """The newest fit and a page of its ratings with intervals, and with differences to a version if one is given."""
    fit = newest_fit(session, trial_id, method)
    if fit is None:
        return None, []
    rows = ratings_of(session, fit.id, trial_id, after=cursor, limit=limit)
    if against is None:
        return fit, [{**_with_interval(row), **dict.fromkeys(DIFFERENCES)} for row in rows]
    value = value_in_fit(session, fit.id, against)
    if value is None:
        raise Refusal(422, _not_rated(against, fit.id, rows))
    variances = difference_variances(session, fit.id, against, [row["version_id"] for row in rows])
    return fit, [_with_difference(_with_interval(row), value, variances) for row in rows]


def _not_rated(against: str, fit_id: str, rows: Sequence[Record]) -> str:
    some = ", ".join(row["version_id"] for row in rows[:3])
    return (
        f"query.against: version {against} is not in fit {fit_id}; allowed are versions that it rates, such as {some}"
    )


def _with_interval(row: Record) -> Record:
    low, high = _interval(row["value"], row["deviation"])
    return {**row, "low": low, "high": high}


def _with_difference(row: Record, value: float, variances: Mapping[str, float] | None) -> Record:
    difference = row["value"] - value
    error = None if variances is None else math.sqrt(variances[row["version_id"]])
    low, high = _interval(difference, error)
    return {**row, "difference": difference, "difference_low": low, "difference_high": high}


def _interval(value: float, error: float | None) -> tuple[float, float] | tuple[None, None]:
    return (None, None) if error is None else (value - Z95 * error, value + Z95 * error)
