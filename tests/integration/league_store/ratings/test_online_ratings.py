"""Ratings that learn game by game: each fit goes on from the one before, and equals all games in their order."""

from __future__ import annotations

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from api.schemas.enums import MatchResult, RatingMethod
from api.store.forks.fork import fork_trial
from api.store.ratings import online as online_ratings
from api.store.ratings.bradley_terry import policies_of
from api.store.ratings.online import METHODS
from api.store.tables import Match, ModelVersion, Rating, RatingFit
from api.store.verify.ratings import wrong_ratings
from league.ratings import TeamMatch, elo_online, team_skills
from orchestrator.contracts.play import EvaluationKey, EvaluationReport, PlayRequest
from tests.integration.league_store.driver import League, Store, league_file
from tests.integration.league_store.games import played

SCORE = {MatchResult.WIN: 1.0, MatchResult.DRAW: 0.5, MatchResult.LOSS: 0.0}
PLACES = {MatchResult.WIN: (1, 2), MatchResult.DRAW: (1, 1), MatchResult.LOSS: (2, 1)}


@pytest.fixture
def league(fresh_store: Store) -> League:
    return evaluated(fresh_store)


def evaluated(store: Store) -> League:
    """Three evaluations against `first-legal`, twenty games each."""
    target = {"until": {"opponent": "first-legal", "win_rate": 0.99}}
    league = store.found(league_file("self_play") | {"budget": target, "evaluation": {"games": 20}})
    for scores in ([0.5, 0.25], [0.75, 0.5], [1.0, 0.0, 0.75]):
        evaluate(league, scores)
    return league


def evaluate(league: League, scores: list[float]) -> None:
    league.learn("main")
    player = league.player("main")
    at = EvaluationKey(trial=league.trial, player=player.id, generation=player.generation)
    request: PlayRequest = league.store("plan_evaluation", at)
    report = EvaluationReport(
        trial=at.trial,
        player=at.player,
        generation=at.generation,
        request=request,
        outcome=played(request, scores),
    )
    league.store("record_evaluation", report)
    league.store("record_evaluation", report)


def fits(league: League, method: RatingMethod) -> list[RatingFit]:
    found = league.store.rows(RatingFit, RatingFit.project_id == league.row.project_id, RatingFit.method == method)
    return sorted(found, key=lambda fit: fit.id)


def places(store: Store, fit: RatingFit) -> dict[str, Rating]:
    return {place.version_id: place for place in store.rows(Rating, Rating.fit_id == fit.id)}


def recorded(session: Session) -> list[tuple[str, str, MatchResult]]:
    """All rating games in their order, by policy."""
    rows = session.execute(
        select(Match.version_id, Match.opponent_version_id, Match.result)
        .where(Match.tournament_id.is_not(None))
        .order_by(Match.id)
    ).all()
    policies = policies_of(session, {version for row in rows for version in row[:2]})
    return [(policies[first], policies[second], result) for first, second, result in rows]


@pytest.mark.parametrize("chunk", [7, 10_000])
def test_fits_one_after_the_other_equal_all_games_in_their_order(
    fresh_store: Store, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(online_ratings, "READ_AT_ONCE", chunk)
    league = evaluated(fresh_store)
    with fresh_store.sessions() as session:
        games = recorded(session)
        elo = elo_online([(a, b, SCORE[result]) for a, b, result in games], k=16.0).ratings
        skills = team_skills([TeamMatch(((a,), (b,)), PLACES[result]) for a, b, result in games])
        policies = policies_of(session, set(session.scalars(select(ModelVersion.id))))
    for method, expected in (
        (RatingMethod.ELO_ONLINE, {policy: (value, None) for policy, value in elo.items()}),
        (RatingMethod.OPENSKILL, {policy: (skill.mu, skill.sigma) for policy, skill in skills.items()}),
    ):
        assert [fit.games for fit in fits(league, method)] == [20, 40, 60]
        kept = places(fresh_store, fits(league, method)[-1])
        assert {policies[version]: (place.value, place.deviation) for version, place in kept.items()} == expected
        assert sum(place.games for place in kept.values()) == 2 * 60
        best = min(kept.values(), key=lambda place: place.rank)
        assert best.rank == 1
        assert METHODS[method].measure(best) == max(METHODS[method].measure(place) for place in kept.values())
    values = [places(fresh_store, fit) for fit in fits(league, RatingMethod.ELO_ONLINE)]
    assert values[0].keys() < values[1].keys() < values[2].keys()


def test_only_new_games_are_read(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    learnt: list[int] = []
    rule = METHODS[RatingMethod.OPENSKILL]

    def update(
        standings: online_ratings.PolicyRatings, games: list[online_ratings.OrderedGame]
    ) -> online_ratings.PolicyRatings:
        learnt.append(len(games))
        return rule.update(standings, games)

    counting = {RatingMethod.OPENSKILL: online_ratings.OnlineMethod(**{**vars(rule), "update": update})}
    monkeypatch.setattr(online_ratings, "METHODS", counting)
    evaluate(league, [0.5])
    assert learnt == [20]


def test_a_fit_says_that_it_depends_on_the_order(league: League) -> None:
    for method in METHODS:
        (*_, newest) = fits(league, method)
        assert newest.method.depends_on_order and "order of games" in newest.settings["label"]
    assert not fits(league, RatingMethod.BRADLEY_TERRY)[-1].method.depends_on_order


def test_a_fork_has_the_ratings_of_the_versions_it_began_with(league: League) -> None:
    store = league.store
    with store.sessions.begin() as session:
        trial = fork_trial(session, league.trial, name="fork").id
    copied = {version.id for version in store.rows(ModelVersion, ModelVersion.trial_id == trial) if version.sha256}
    for method in METHODS:
        assert copied & places(store, fits(league, method)[-1]).keys()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE ratings SET value = value + 1 WHERE fit_id = :fit",
        "DELETE FROM ratings WHERE fit_id = :fit AND rank = 1",
        "DELETE FROM matches WHERE id = (SELECT min(id) FROM matches WHERE tournament_id IS NOT NULL)",
        # the first two games, a win and a loss, in another order: nothing but these methods can tell
        "UPDATE matches SET result = CASE result WHEN 'win' THEN 'loss' ELSE 'win' END WHERE id IN"
        " (SELECT id FROM matches WHERE tournament_id IS NOT NULL ORDER BY id LIMIT 2)",
    ],
)
def test_the_audit_learns_again_from_every_game(league: League, method: RatingMethod, damage: str) -> None:
    fit = fits(league, method)[1]
    with Session(league.store.engine) as session:
        assert list(wrong_ratings(session)) == []
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text(damage), {"fit": fit.id} if ":fit" in damage else {})
        assert any(fit.id in finding.subject for finding in wrong_ratings(session))
        session.rollback()
