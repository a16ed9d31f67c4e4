"""Ratings as answers show them: the newest fit of a method, its versions, and differences between them.

To add a field to the ratings answer: declare it in `api.schemas.ratings.Rating`; if it is not a column of the table
`ratings`, add it to `_RATED` below.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ARRAY, BigInteger, String, bindparam, cast, func, null, select, true
from sqlalchemy.orm import Session

from api.schemas.enums import RatingMethod
from api.schemas.ratings import Fit
from api.schemas.ratings import Rating as RatingAnswer
from api.store.core.errors import NotFound
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import ModelVersion, Player, Rating, RatingCovariance, RatingFit, Trial

Z95 = 1.959963984540054
"""Half the width of a 95 % interval, in standard errors."""
DIFFERENCES = ("difference", "difference_low", "difference_high")
"""Fields that are null unless a rating is compared with another version."""


def newest_fit(session: Session, trial_id: str, method: RatingMethod) -> Record | None:
    """The fit over the most games that rates a version of the trial."""
    # fits of all methods are made together, so the newest of any method bounds the search; a project may have thousands
    last = _last_fit_of_any_method(session, trial_id)
    if last is None:
        return None
    trial = session.get_one(Trial, trial_id)
    takes_part = (
        select(Rating.version_id)
        .join(ModelVersion, ModelVersion.id == Rating.version_id)
        .where(Rating.fit_id == RatingFit.id, ModelVersion.trial_id == trial_id)
        .limit(1)
        .scalar_subquery()
        .is_not(None)
    )
    fits = _FITS.where(
        RatingFit.project_id == trial.project_id,
        RatingFit.game == trial.game,
        RatingFit.method == method,
        RatingFit.id <= last,
        takes_part,
    )
    made_last = read_records(session, fits.order_by(RatingFit.id.desc()).limit(1))
    if not made_last:
        return None
    # of two concurrent fits, the one that was finished first may have seen more games
    as_many = fits.where(RatingFit.last_match_id >= made_last[0]["last_match_id"])
    return read_records(session, as_many.order_by(RatingFit.last_match_id.desc(), RatingFit.id.desc()).limit(1))[0]


def fits_state(session: Session, trial_id: str) -> tuple[Any, ...]:
    """Changes with every fit that a trial's ratings could be of: fits are added, and never changed or removed."""
    row = session.execute(_FITS_STATE, {"of_trial": trial_id}).one_or_none()
    if row is None:
        raise NotFound(f"there is no trial {trial_id}")
    return tuple(row)


def _last_fit_of_any_method(session: Session, trial_id: str) -> str | None:
    """The last fit that rates a version of the trial: one index lookup for each version."""
    of_version = (
        select(Rating.fit_id)
        .where(Rating.version_id == ModelVersion.id)
        .order_by(Rating.fit_id.desc())
        .limit(1)
        .lateral()
    )
    return session.scalar(
        select(of_version.c.fit_id)
        .select_from(ModelVersion)
        .join(of_version, true())
        .where(ModelVersion.trial_id == trial_id)
        .order_by(of_version.c.fit_id.desc())
        .limit(1)
    )


def list_ratings(session: Session, fit_id: str, trial_id: str, *, after: int | None, limit: int) -> list[Record]:
    """The ratings of the trial's versions in a fit, the best first; ranks are of the whole fit."""
    query = _RATED.where(_RATINGS.c.fit_id == fit_id, _VERSIONS.c.trial_id == trial_id)
    return read_records(session, query.limit(limit).offset(after or 0))


def add_differences(session: Session, fit_id: str, against: str, ratings: list[Record]) -> bool:
    """Give each rating its difference to a version, with the 95 % interval; False where the fit does not rate it.

    The fit and its covariance must be read in one snapshot: a newer fit replaces the covariance.
    """
    value = value_in_fit(session, fit_id, against)
    if value is None:
        return False
    variances = difference_variances(session, fit_id, against, [rating["version_id"] for rating in ratings])
    for rating in ratings:
        rating["difference"] = difference = rating["value"] - value
        if variances is not None:
            width = Z95 * math.sqrt(variances[rating["version_id"]])
            rating |= {"difference_low": difference - width, "difference_high": difference + width}
    return True


def value_in_fit(session: Session, fit_id: str, version_id: str) -> float | None:
    """The rating of a version of any trial in a fit; None if it has none."""
    return session.scalar(select(Rating.value).where(Rating.fit_id == fit_id, Rating.version_id == version_id))


def difference_variances(
    session: Session, fit_id: str, against: str, versions: Iterable[str]
) -> Mapping[str, float] | None:
    """Var(i - j) = C_ii + C_jj - 2 C_ij of each version i and one other, j.

    None if the fit's covariance was deleted by a newer fit.
    """
    order = session.scalar(select(RatingCovariance.versions).where(RatingCovariance.fit_id == fit_id))
    if order is None:
        return None
    place = {version: number for number, version in enumerate(order)}
    other = place[against]
    wanted = {version: place[version] for version in versions}
    pairs = {(i, j) for one in wanted.values() for i, j in ((one, one), (min(one, other), max(one, other)))}
    cells = {(i, j): _in_triangle(i, j, len(order)) for i, j in {*pairs, (other, other)}}
    kept = session.execute(_CELLS, {"fit_id": fit_id, "cells": [*cells.values()]})
    value: dict[int, float] = {row.cell: row.value for row in kept}
    if len(value) < len(cells):
        return None

    def covariance(a: int, b: int) -> float:
        return value[cells[min(a, b), max(a, b)]]

    return {
        version: max(0.0, covariance(one, one) + covariance(other, other) - 2 * covariance(one, other))
        for version, one in wanted.items()
    }


def _in_triangle(row: int, column: int, count: int) -> int:
    """The index, from 1, of a cell in an upper triangle of `count` rows that is stored row by row."""
    return 1 + row * count - row * (row - 1) // 2 + (column - row)


_TRIANGLE = (
    select(
        func.unnest(RatingCovariance.upper_triangle).label("value"),
        func.generate_subscripts(RatingCovariance.upper_triangle, 1).label("cell"),
    )
    .where(RatingCovariance.fit_id == bindparam("fit_id"))
    .subquery()
)
# some cells of a matrix of millions: unnested once in Postgres, since each subscript would decompress all of it
_CELLS = select(_TRIANGLE.c.cell, _TRIANGLE.c.value).where(
    _TRIANGLE.c.cell == func.any(bindparam("cells", type_=ARRAY(BigInteger)))
)

# tables instead of entities: a list of entities costs several times as much to read
_RATINGS, _VERSIONS, _PLAYERS = Rating.__table__, ModelVersion.__table__, Player.__table__
_RATED = (
    select(
        *fields_of(
            RatingAnswer,
            _RATINGS,
            _VERSIONS.c.player_id,
            _PLAYERS.c.name.label("player"),
            _VERSIONS.c.number,
            _VERSIONS.c.steps,
            _VERSIONS.c.created_at.label("recorded_at"),
            (_RATINGS.c.value - Z95 * _RATINGS.c.deviation).label("low"),
            (_RATINGS.c.value + Z95 * _RATINGS.c.deviation).label("high"),
            *(null().label(name) for name in DIFFERENCES),
            (_PLAYERS.c.name + " v" + cast(_VERSIONS.c.number, String)).label("label"),
            _VERSIONS.c.number.label("version_number"),
        )
    )
    .join(_VERSIONS, _VERSIONS.c.id == _RATINGS.c.version_id)
    .join(_PLAYERS, _PLAYERS.c.id == _VERSIONS.c.player_id)
    .order_by(_RATINGS.c.rank, _RATINGS.c.version_id)
)
_FIT_TABLE = RatingFit.__table__
_ONLINE = [method for method in RatingMethod if method.depends_on_order]
_FITS = select(*fields_of(Fit, _FIT_TABLE, _FIT_TABLE.c.method.in_(_ONLINE).label("depends_on_order")))
_FITS_STATE = (
    select(Trial.project_id, func.count(RatingFit.id), func.max(RatingFit.last_match_id))
    .outerjoin(RatingFit, (RatingFit.project_id == Trial.project_id) & (RatingFit.game == Trial.game))
    .where(Trial.id == bindparam("of_trial"))
    .group_by(Trial.project_id)
)
