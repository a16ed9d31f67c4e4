"""Differences between ratings: their variances come from the covariance that was kept with the fit."""

from __future__ import annotations

import math

import pytest
from sqlalchemy import event, text, update

from api.schemas.enums import RatingMethod
from api.store.core.engine import snapshot_factory
from api.store.ratings.bradley_terry import fit_bradley_terry, rating_games
from api.store.ratings.reads import difference_variances, newest_fit, value_in_fit
from api.store.tables import Project, RatingCovariance, RatingFit
from tests.integration.league_store.driver import Store
from tests.integration.league_store.ratings.test_online_ratings import evaluate, evaluated, fits


def test_every_difference_is_as_sure_as_the_fit_says(fresh_store: Store) -> None:
    league = evaluated(fresh_store)
    with fresh_store.sessions() as session:
        fit = newest_fit(session, league.trial, RatingMethod.BRADLEY_TERRY)
        assert fit is not None
        games = rating_games(session, league.row.project_id, league.row.game)
        ratings = fit_bradley_terry(games)
        assert ratings is not None and len(games.policies) == 4
        for against, other in games.policies.items():
            variances = difference_variances(session, fit["id"], against, games.policies)
            assert variances is not None
            value = value_in_fit(session, fit["id"], against)
            for version, policy in games.policies.items():
                elo, low, high = ratings.difference(policy, other)
                assert math.sqrt(variances[version]) == pytest.approx((high - low) / 2 / 1.959963984540054, abs=1e-6)
                assert (value_in_fit(session, fit["id"], version) or 0) - (value or 0) == pytest.approx(elo)


def test_a_covariance_that_made_room_is_missed_and_not_made_up(fresh_store: Store) -> None:
    league = evaluated(fresh_store)
    with fresh_store.sessions() as session:
        older = newest_fit(session, league.trial, RatingMethod.BRADLEY_TERRY)
    assert older is not None
    evaluate(league, [0.5])
    version = league.versions("main")[1].id
    with fresh_store.sessions() as session:
        assert difference_variances(session, older["id"], version, [version]) is None
    (kept,) = fresh_store.rows(RatingCovariance)
    assert kept.fit_id == max(
        fit.id for fit in fresh_store.rows(RatingFit, RatingFit.method == RatingMethod.BRADLEY_TERRY)
    )


def test_one_snapshot_keeps_the_covariance_of_a_fit_that_is_replaced_meanwhile(fresh_store: Store) -> None:
    league = evaluated(fresh_store)
    version = league.versions("main")[1].id
    with snapshot_factory(fresh_store.engine)() as session:
        fit = newest_fit(session, league.trial, RatingMethod.BRADLEY_TERRY)
        assert fit is not None
        evaluate(league, [0.5])
        assert difference_variances(session, fit["id"], version, [version]) is not None
        again = newest_fit(session, league.trial, RatingMethod.BRADLEY_TERRY)
        assert again is not None and again["id"] == fit["id"]
    with fresh_store.sessions() as session:
        assert difference_variances(session, fit["id"], version, [version]) is None


def test_the_newest_fit_is_the_one_over_the_most_games(fresh_store: Store) -> None:
    league = evaluated(fresh_store)
    for method in RatingMethod.BRADLEY_TERRY, RatingMethod.ELO_ONLINE:
        with fresh_store.sessions() as session:
            found = newest_fit(session, league.trial, method)
            assert found is not None and found["games"] == 60
            *_, before, last = fits(league, method)
            assert found["id"] == last.id
            session.execute(text("SET LOCAL session_replication_role = replica"))
            # as if the evaluation before had been slow to rate its games
            for fit, seen in (before, last.last_match_id), (last, before.last_match_id):
                session.execute(update(RatingFit).where(RatingFit.id == fit.id).values(last_match_id=seen))
            found = newest_fit(session, league.trial, method)
            assert found is not None and found["id"] == before.id


def test_a_trial_that_is_not_rated_looks_at_no_fit(fresh_store: Store) -> None:
    """A project may have thousands, and a page asks again and again."""
    league = evaluated(fresh_store)
    other = fresh_store.found(project=fresh_store.rows(Project)[0].name)
    heard: list[str] = []
    event.listen(fresh_store.engine, "before_cursor_execute", lambda *said: heard.append(said[2]))
    with fresh_store.sessions() as session:
        assert newest_fit(session, other.trial, RatingMethod.BRADLEY_TERRY) is None
    assert heard and not any("rating_fits" in each for each in heard)
    assert league.row.project_id == other.row.project_id
