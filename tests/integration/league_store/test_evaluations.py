"""Evaluations: rating games against the target, counted once, with ratings fitted after them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from api.schemas.enums import RatingMethod
from api.store.payoffs.cells import stored_cells
from api.store.payoffs.replay import replay_payoff
from api.store.tables import Match, Pairing, Payoff, Rating, RatingCovariance, RatingFit, Tournament
from league.types import Stream
from orchestrator.contracts.play import EvaluationKey, EvaluationReport, PlayOutcome, PlayRequest, TargetState
from orchestrator.contracts.tournaments import EvaluationsEnd, TournamentEnd, TrialEvaluation
from tests.integration.league_store.driver import League, Store, league_file
from tests.integration.league_store.games import SUITED, played, played_alone


@pytest.fixture
def league(store: Store) -> League:
    """A league that is done when it wins 8 of 10 games against `first-legal`."""
    return found(store)


def found(store: Store, **more: Any) -> League:
    target = {"until": {"opponent": "first-legal", "win_rate": 0.8}}
    return store.found(league_file("self_play") | {"budget": target, "evaluation": {"games": 20}} | more)


def key(league: League) -> EvaluationKey:
    player = league.player("main")
    return EvaluationKey(trial=league.trial, player=player.id, generation=player.generation)


def report(league: League, request: PlayRequest, outcome: PlayOutcome) -> EvaluationReport:
    at = key(league)
    return EvaluationReport(
        trial=at.trial, player=at.player, generation=at.generation, request=request, outcome=outcome
    )


def test_an_evaluation_is_planned_once(store: Store, league: League) -> None:
    recorded = league.learn("main")
    first, second = store.at_once("plan_evaluation", key(league), key(league))
    request: PlayRequest = store("plan_evaluation", key(league))
    assert first == second == request
    main, target = request.contenders
    assert (main.version, main.checkpoint) == (recorded.version, recorded.checkpoint)
    assert (target.bot, target.checkpoint) == ("first-legal", None)
    assert (request.pairs, request.opening_plies) == (10, 2)
    (tournament,) = store.rows(Tournament, Tournament.trial_id == league.trial)
    assert (tournament.format, tournament.status) == ("gauntlet", "running")
    assert tournament.workflow_started_at is not None


def test_an_evaluation_counts_once_on_the_rating_stream(store: Store, league: League) -> None:
    league.learn("main")
    request: PlayRequest = store("plan_evaluation", key(league))
    delivered = report(league, request, played(request, [1.0, 0.75]))
    answers = store.at_once("record_evaluation", delivered, delivered)
    state: TargetState = store("record_evaluation", delivered)
    assert answers == [state, state]
    assert (state.win_rate, state.games, state.reached) == (0.875, 20, True)
    assert state.low < 0.875 < state.high
    assert store.count(Match, Match.trial_id == league.trial, Match.stream == Stream.RATING) == 20
    (pairing,) = store.rows(Pairing, Pairing.trial_id == league.trial)
    assert (pairing.status, pairing.wins, pairing.draws, pairing.losses) == ("played", 15, 5, 0)
    cells = store.rows(Payoff, Payoff.trial_id == league.trial, Payoff.stream == Stream.RATING)
    assert sum(cell.raw_wins for cell in cells if cell.player_id == league.player("main").id) == 15
    with store.sessions() as session:
        assert stored_cells(session, league.trial) == replay_payoff(session, league.trial)
    assert league.events("evaluation.recorded")[0]["reached"]
    fits = store.rows(RatingFit, RatingFit.tournament_id == pairing.tournament_id)
    assert sorted(fit.method for fit in fits) == ["bradley_terry", "elo_online", "openskill"]


def test_an_evaluation_says_what_openings_its_games_had(store: Store) -> None:
    league = found(store, game={"id": "openspiel", "game": "hex"})
    league.learn("main")
    request: PlayRequest = store("plan_evaluation", key(league))
    assert request.opening_plies is None, "left to whoever knows the game"
    store("record_evaluation", report(league, request, played(request)))
    (tournament,) = store.rows(Tournament, Tournament.trial_id == league.trial)
    assert tournament.spec["opening_plies"] == SUITED


def test_below_the_target_is_not_reached(store: Store, league: League) -> None:
    league.learn("main")
    request: PlayRequest = store("plan_evaluation", key(league))
    state: TargetState = store("record_evaluation", report(league, request, played(request, [0.75])))
    assert (state.win_rate, state.reached) == (0.75, False)


def test_ratings_follow_the_games_and_know_their_anchor(store: Store) -> None:
    league = found(store)
    for scores in ([0.5, 0.25], [0.75, 0.5], [0.75]):
        league.learn("main")
        request: PlayRequest = store("plan_evaluation", key(league))
        store("record_evaluation", report(league, request, played(request, scores)))
    strengths = (RatingFit.project_id == league.row.project_id, RatingFit.method == RatingMethod.BRADLEY_TERRY)
    fits = sorted(store.rows(RatingFit, *strengths), key=lambda fit: fit.last_match_id)
    assert [fit.games for fit in fits] == [20, 40, 60]
    places = store.rows(Rating, Rating.fit_id == fits[-1].id)
    by_version = {place.version_id: place for place in places}
    assert by_version[league.versions("first-legal")[0].id].value == 0
    mains = [by_version[version.id] for version in league.versions("main")[1:]]
    assert [place.rank for place in mains] == [4, 2, 1]
    assert mains[0].value < mains[1].value < mains[2].value
    assert len(places) == 4
    kept = {row.fit_id for row in store.rows(RatingCovariance)} & {fit.id for fit in fits}
    assert kept == {fits[-1].id}


def test_games_that_were_not_asked_for_are_refused(store: Store, league: League) -> None:
    league.learn("main")
    request: PlayRequest = store("plan_evaluation", key(league))
    short = played(replace(request, pairs=3))
    with pytest.raises(ApplicationError, match="10 pairs"):
        store("record_evaluation", report(league, request, short))
    league.learn("main")
    with pytest.raises(ApplicationError, match="was planned") as refusal:
        store("record_evaluation", report(league, request, played(request)))
    assert refusal.value.type == "not_found"


def test_without_a_target_there_is_nothing_to_evaluate(store: Store) -> None:
    league = store.found()
    league.learn("main")
    with pytest.raises(ApplicationError, match="no target"):
        store("plan_evaluation", key(league))


def test_at_a_table_for_one_the_better_return_wins(store: Store) -> None:
    league = found(store, game={"id": "gymnasium", "env": "CartPole-v1"})
    league.learn("main")
    request: PlayRequest = store("plan_evaluation", key(league))
    assert request.opening_plies == 0
    state: TargetState = store("record_evaluation", report(league, request, played_alone(request, better=0)))
    assert (state.win_rate, state.games, state.reached) == (1.0, 10, True)
    assert store.count(Payoff, Payoff.trial_id == league.trial) == 0


def test_the_end_of_a_trial_closes_its_evaluations(store: Store, league: League) -> None:
    league.learn("main")
    store("plan_evaluation", key(league))
    at = key(league)
    opened = store("open_trial_evaluation", TrialEvaluation(trial=at.trial, player=at.player, generation=1))
    drained = EvaluationsEnd(trial=league.trial, now=False, reason="the budget is used up")
    assert store("end_evaluations", drained).tournaments == [], "a gauntlet under way is played out"
    (target,) = store.rows(Tournament, Tournament.trial_id == league.trial, Tournament.id != opened.tournament)
    assert (target.status, target.status_reason) == ("cancelled", "the budget is used up"), "nobody would play it"
    stopped = EvaluationsEnd(trial=league.trial, now=True, reason="enough")
    assert store("end_evaluations", stopped).tournaments == [opened.tournament]
    store("end_tournament", TournamentEnd(tournament=opened.tournament, status="cancelled", reason="enough"))
    assert store("end_evaluations", stopped).tournaments == []


def test_games_that_come_after_the_cancellation_count_for_nothing(store: Store, league: League) -> None:
    league.learn("main")
    request: PlayRequest = store("plan_evaluation", key(league))
    before = league.row.last_commit
    store("end_evaluations", EvaluationsEnd(trial=league.trial, now=True, reason="enough"))
    state: TargetState = store("record_evaluation", report(league, request, played(request, [1.0])))
    assert (state.games, state.reached) == (0, False)
    (tournament,) = store.rows(Tournament, Tournament.trial_id == league.trial)
    assert (tournament.status, tournament.status_reason) == ("cancelled", "enough")
    assert store.count(Match, Match.trial_id == league.trial) == 0
    assert league.row.last_commit == before and league.events("evaluation.recorded") == []
