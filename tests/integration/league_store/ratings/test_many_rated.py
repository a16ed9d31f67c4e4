"""A league of weeks: a fit rates whoever played last and some of the others, and the audit knows it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from api.schemas.enums import RatingMethod
from api.store.ratings import bradley_terry as ratings
from api.store.ratings.bradley_terry import rated_policies
from api.store.verify.ratings import wrong_ratings
from tests.integration.league_store.driver import Store
from tests.integration.league_store.ratings.test_online_ratings import evaluate, evaluated, fits, places


def test_the_newest_some_of_the_older_and_every_bot_are_rated() -> None:
    played = {f"policy-{match:04d}": match for match in range(3000)} | {"bot:random": -1}
    rated = rated_policies(played)
    assert {f"policy-{match:04d}" for match in range(2000, 3000)} <= rated and "bot:random" in rated
    older = sorted(int(name[-4:]) for name in rated if name.startswith("policy-") and int(name[-4:]) < 2000)
    assert len(older) <= ratings.OLDER_RATED
    assert max(b - a for a, b in pairwise(older)) <= 2 * 2000 / ratings.OLDER_RATED
    assert rated_policies(dict(reversed(played.items()))) == rated, "the order of reading decides nothing"


def test_a_small_league_is_rated_whole() -> None:
    played = {f"policy-{match}": match for match in range(ratings.NEWEST_RATED + ratings.OLDER_RATED)}
    assert rated_policies(played) == played.keys()


def test_the_audit_agrees_when_some_are_left_out(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "NEWEST_RATED", 2)
    monkeypatch.setattr(ratings, "OLDER_RATED", 1)
    league = evaluated(fresh_store)
    for scores in ([0.5], [0.75, 0.25], [1.0, 0.5]):
        evaluate(league, scores)
    for method in (RatingMethod.BRADLEY_TERRY, RatingMethod.ELO_ONLINE, RatingMethod.OPENSKILL):
        newest = fits(league, method)[-1]
        assert newest.games == 120 and len(places(fresh_store, newest)) == 3
    assert fits(league, RatingMethod.BRADLEY_TERRY)[-1].settings["left_out"] == 4
    with Session(fresh_store.engine) as session:
        assert list(wrong_ratings(session)) == []


def test_the_audit_rates_a_fit_from_before_the_limit_whole(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    league = evaluated(fresh_store)
    with fresh_store.sessions.begin() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text("UPDATE rating_fits SET settings = settings - 'left_out'"))
    monkeypatch.setattr(ratings, "NEWEST_RATED", 2)
    monkeypatch.setattr(ratings, "OLDER_RATED", 1)
    evaluate(league, [0.5])
    with Session(fresh_store.engine) as session:
        assert list(wrong_ratings(session)) == []


def test_ranks_count_only_those_that_are_rated(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "NEWEST_RATED", 2)
    monkeypatch.setattr(ratings, "OLDER_RATED", 1)
    league = evaluated(fresh_store)
    for scores in ([1.0], [0.0], [0.0], [0.0]):
        evaluate(league, scores)
        for method in (RatingMethod.ELO_ONLINE, RatingMethod.OPENSKILL):
            kept = places(fresh_store, fits(league, method)[-1]).values()
            assert min(place.rank for place in kept) == 1 and max(place.rank for place in kept) <= len(kept)
