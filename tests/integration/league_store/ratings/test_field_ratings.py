"""Alpha-rank and Nash averaging over the field of a tournament: the audit fits them again."""

from __future__ import annotations

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from api.store.ratings.alpha_rank_nash import FIELD_METHODS, rate_field
from api.store.tables import RatingFit, Tournament
from api.store.verify.ratings import wrong_ratings
from tests.integration.league_store.driver import League, Store
from tests.integration.league_store.ratings.test_online_ratings import evaluated


@pytest.fixture(scope="module")
def league(store: Store) -> League:
    league = evaluated(store)
    with store.sessions() as session:
        held = session.scalars(
            select(Tournament.id).where(Tournament.trial_id == league.trial).order_by(Tournament.id)
        ).all()
    for tournament in held:
        with store.sessions.begin() as session:
            rate_field(session, tournament)
    return league


@pytest.mark.parametrize("method", FIELD_METHODS)
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE ratings SET value = value + 0.25 WHERE fit_id = :fit AND rank = 1",
        "DELETE FROM ratings WHERE fit_id = :fit AND rank = 1",
        "UPDATE rating_fits SET games = games + 1 WHERE id = :fit",
    ],
)
def test_the_audit_fits_every_field_again(league: League, method: str, damage: str) -> None:
    with Session(league.store.engine) as session:
        fits = session.scalars(
            select(RatingFit.id)
            .join(Tournament, Tournament.id == RatingFit.tournament_id)
            .where(RatingFit.method == method, Tournament.trial_id == league.trial)
        ).all()
        assert len(fits) > 1
        assert list(wrong_ratings(session)) == []
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text(damage), {"fit": fits[0]})
        found = list(wrong_ratings(session))
        assert found and all(fits[0] in finding.subject for finding in found)
        session.rollback()
