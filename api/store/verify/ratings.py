"""Audits ratings: recomputes every recorded fit, of every method, from the games that it saw."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import RatingMethod
from api.store.ratings.alpha_rank_nash import FIELD_METHODS, bradley_terry_fit, field_payoff, field_values
from api.store.ratings.bradley_terry import fit_bradley_terry, policies_of, rates_every_policy, rating_games
from api.store.ratings.online import METHODS, NO_RATINGS, update_from_games
from api.store.tables import ModelVersion, Rating, RatingFit, Tournament
from api.store.verify.report import Finding, FindingKind

TOLERANCE = 1e-6
"""Elo; the fit itself is iterative."""


def wrong_ratings(session: Session) -> Iterator[Finding]:
    """Fits whose ratings differ from a recomputation."""
    fits = select(RatingFit).where(RatingFit.method == RatingMethod.BRADLEY_TERRY).order_by(RatingFit.id)
    for fit in session.scalars(fits):
        if fit.settings.get("unit") == "elo" and "policies" in fit.settings:
            yield from _wrong_fit(session, fit)
    yield from _wrong_online(session)
    yield from _wrong_field_fits(session)


def _wrong_fit(session: Session, fit: RatingFit) -> Iterator[Finding]:
    whole = rates_every_policy(fit)
    games = rating_games(session, fit.project_id, fit.game, up_to=fit.last_match_id, whole=whole)
    if games.games != fit.games:
        yield _miscounted(fit, games.games)
        return
    ratings = fit_bradley_terry(games)
    places = _places(session, fit)
    policies = _policies(session, places)
    yield from _wrong_places(session, fit, places, policies, {} if ratings is None else ratings.elos())
    missing = sorted(set(games.policies) - {place.version_id for place in places})
    if missing:
        yield Finding(wrong=FindingKind.LOST, subject=_subject(fit), detail=f"no ratings of versions {missing}")


def _wrong_online(session: Session) -> Iterator[Finding]:
    """Online Elo and openskill: one pass over the games, however many fits there are."""
    query = select(RatingFit).where(RatingFit.method.in_(METHODS))
    ordered = query.order_by(
        RatingFit.project_id, RatingFit.game, RatingFit.method, RatingFit.last_match_id, RatingFit.id
    )
    fits = [fit for fit in session.scalars(ordered) if fit.settings == METHODS[fit.method].settings]
    for (_, _, method), alike in groupby(fits, key=lambda fit: (fit.project_id, fit.game, fit.method)):
        found = NO_RATINGS
        for fit in alike:
            found = update_from_games(session, fit, method, found)
            if found.games != fit.games:
                yield _miscounted(fit, found.games)
                continue
            places = _places(session, fit)
            # a policy that was not rated then starts again if it plays again
            rated = _rated_beside(session, fit)
            found = replace(found, by_policy={name: kept for name, kept in found.by_policy.items() if name in rated})
            values = {policy: rating.value for policy, rating in found.by_policy.items()}
            policies = _policies(session, places)
            yield from _wrong_places(session, fit, places, policies, values)
            missing = sorted(values.keys() - policies.values())
            if missing:
                detail = f"no ratings of policies {missing}"
                yield Finding(wrong=FindingKind.LOST, subject=_subject(fit), detail=detail)


def _wrong_field_fits(session: Session) -> Iterator[Finding]:
    """Alpha-rank and Nash averaging, from the games that the Bradley-Terry fit of the same tournament saw.

    An old fit may have seen other games than that one and cannot be recomputed.
    """
    for fit in session.scalars(select(RatingFit).where(RatingFit.method.in_(FIELD_METHODS)).order_by(RatingFit.id)):
        beside = None if fit.tournament_id is None else bradley_terry_fit(session, fit.tournament_id)
        if beside is None or beside.last_match_id != fit.last_match_id:
            continue
        payoff = field_payoff(session, session.get_one(Tournament, fit.tournament_id), beside)
        games = 0 if payoff is None else payoff.games
        if payoff is None or games != fit.games:
            yield _miscounted(fit, games)
            continue
        values = field_values(fit.method, payoff)
        places = _places(session, fit)
        yield from _wrong_places(session, fit, places, {version: version for version in values}, values)
        missing = sorted(values.keys() - {place.version_id for place in places})
        if missing:
            yield Finding(wrong=FindingKind.LOST, subject=_subject(fit), detail=f"no ratings of versions {missing}")


def _rated_beside(session: Session, fit: RatingFit) -> set[str]:
    """The policies of the Bradley-Terry fit over the same games."""
    versions = (
        select(Rating.version_id)
        .join(RatingFit, RatingFit.id == Rating.fit_id)
        .where(
            RatingFit.project_id == fit.project_id,
            RatingFit.game == fit.game,
            RatingFit.method == RatingMethod.BRADLEY_TERRY,
            RatingFit.last_match_id == fit.last_match_id,
        )
    )
    return set(policies_of(session, set(session.scalars(versions))).values())


def _wrong_places(
    session: Session,
    fit: RatingFit,
    places: Sequence[Rating],
    policies: Mapping[str, str],
    values: Mapping[str, float],
) -> Iterator[Finding]:
    for place in places:
        again = values.get(policies.get(place.version_id, ""), math.nan)
        if not math.isclose(again, place.value, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            number = session.get_one(ModelVersion, place.version_id).number
            detail = f"version {number} ({place.version_id}) is stored at {place.value!r}, recomputed at {again!r}"
            yield Finding(wrong=FindingKind.DISAGREEING, subject=_subject(fit), detail=detail)


def _miscounted(fit: RatingFit, games: int) -> Finding:
    wrong = FindingKind.LOST if games < fit.games else FindingKind.DOUBLED
    return Finding(wrong=wrong, subject=_subject(fit), detail=f"it saw {fit.games} games, {games} exist")


def _places(session: Session, fit: RatingFit) -> Sequence[Rating]:
    return session.scalars(select(Rating).where(Rating.fit_id == fit.id)).all()


def _policies(session: Session, places: Sequence[Rating]) -> dict[str, str]:
    return policies_of(session, {place.version_id for place in places})


def _subject(fit: RatingFit) -> str:
    return f"rating fit {fit.id} of {fit.game}"
