"""Mates in the store: planned once with their reason, and their results kept apart from everyone's payoff."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from api.store.payoffs.lineups import lineup_results
from api.store.tables import Decision, LineupTally, Payoff, Tally
from api.store.verify import audit
from league.ratings import LineupResult, lineup_skills
from league.types import DecisionKind, Earned, ReturnTally, VersionId
from league.types import LineupTally as LineupResults
from orchestrator.contracts.generations import GenerationPlan, GenerationReport
from tests.integration.league_store.driver import League, Store, league_file


def found(store: Store, **mates: Any) -> League:
    other = {"name": "other", "role": "main"}
    players = [{"name": "main", "role": "main"}, other, {"name": "random", "role": "bot", "bot": "random"}]
    return store.found(league_file("fictitious", players, mates=mates, matchmaking={"include_bots": True}))


def planned(league: League) -> tuple[GenerationPlan, dict[str, float]]:
    plan = league.plan("main")
    return plan, {mate.player_name: mate.probability for mate in plan.mates}


def test_a_league_without_mates_plans_none(store: Store) -> None:
    plan, mates = planned(store.found())
    assert mates == {}
    assert "mates" not in store.rows(Decision, Decision.id == plan.decision)[0].evidence["plan"]


def test_mates_are_the_past_and_the_rest_of_the_league_by_their_shares(store: Store) -> None:
    league = found(store, past=0.25, league=0.5)
    assert planned(league)[1] == {"other": 0.5}, "there is no past yet: its share is the learner's own"
    league.live("main", 2)
    plan, mates = planned(league)
    assert {name.split("-")[0]: share for name, share in mates.items()} == {"main": 0.25, "other": 0.5}
    assert planned(league)[0] == plan, "the same plan for every delivery"
    decision = league.decisions(DecisionKind.MATCHMAKING)[-1]
    assert [mate["branch"] for mate in decision.evidence["plan"]["mates"]] == ["past", "league"]
    with_bots = found(store, league=1.0, include_bots=True)
    assert planned(with_bots)[1] == {"other": 0.5, "random": 0.5}


def reported(league: League, plan: GenerationPlan, **more: Any) -> GenerationReport:
    mate, opponent = plan.mates[0], plan.opponents[-1]
    tally = LineupResults(
        learner=VersionId(plan.version),
        lineup=(VersionId(mate.version), VersionId(plan.version)),
        opponent=VersionId(opponent.version),
        seat=1,
        opponent_seat=0,
        wins=5,
        draws=2,
        losses=3,
        earned=Earned(2.0, -2.0),
    )
    report = league.report(plan)
    return replace(report, outcome=replace(report.outcome, lineups=[replace(tally, **more)]))


def test_results_of_a_mixed_line_up_are_nobodys_own(store: Store) -> None:
    league = found(store, league=1.0)
    plan = league.plan("main")
    before = sum(tally.games for tally in league.report(plan).outcome.tallies)
    recorded = store("record_generation", reported(league, plan))
    (row,) = store.rows(LineupTally, LineupTally.trial_id == league.trial)
    assert row.lineup == [plan.mates[0].version, recorded.version], "the learner is the version that was made"
    assert (row.games, row.wins, row.draws, row.losses, row.returns, row.opponent_returns) == (10, 5, 2, 3, 2.0, -2.0)
    cells = store.rows(Payoff, Payoff.trial_id == league.trial, Payoff.player_id == league.player("main").id)
    assert sum(cell.raw_wins + cell.raw_draws + cell.raw_losses for cell in cells) == before
    assert sum(t.wins + t.draws + t.losses for t in store.rows(Tally, Tally.trial_id == league.trial)) == before
    store("record_generation", reported(league, plan))
    assert store.count(LineupTally, LineupTally.trial_id == league.trial) == 1, "a second delivery adds nothing"


def test_line_ups_are_summed_by_players_over_generations(store: Store) -> None:
    league = found(store, league=1.0)
    for _ in range(2):
        store("record_generation", reported(league, league.plan("main")))
    with store.sessions() as session:
        (record,) = lineup_results(session, league.trial)
    assert (record["player"], record["lineup"], record["opponent"]) == ("main", ["other", "main"], "random")
    assert (record["seat"], record["games"], record["wins"], record["draws"], record["losses"]) == (1, 20, 10, 4, 6)
    assert record["win_rate"] == 0.6 and record["low"] < 0.6 < record["high"]
    assert record["mean_return"] == pytest.approx(0.2)
    tally = LineupResult(lineup="other+main", opponent="random", wins=5, draws=2, losses=3)
    skills = lineup_skills([tally, tally])
    assert (record["rating"], record["deviation"]) == (skills["other+main"].mu, skills["other+main"].sigma)
    assert (record["opponent_rating"], record["opponent_deviation"]) == (skills["random"].mu, skills["random"].sigma)
    assert record["rating_method"] == "openskill" and record["rating"] > record["opponent_rating"]


def test_a_game_of_one_team_is_audited_with_its_line_ups(fresh_store: Store) -> None:
    league = found(fresh_store, league=1.0)
    plan = league.plan("main")
    alone, mixed = ReturnTally(games=70, mean=1.5, deviations=4.0), ReturnTally(games=30, mean=2.0, deviations=1.0)
    report = reported(
        league, plan, opponent=None, opponent_seat=None, wins=0, draws=0, losses=0, earned=None, returns=mixed
    )
    metrics = {"games": 100.0, "return_mean": 1.5}
    outcome = replace(report.outcome, tallies=[], returns=alone, metrics=metrics)
    fresh_store("record_generation", replace(report, outcome=outcome))
    with fresh_store.sessions() as session:
        (record,) = lineup_results(session, league.trial)
    assert (record["opponent"], record["games"], record["win_rate"], record["mean_return"]) == (None, 30, None, 2.0)
    assert record["rating"] is record["rating_method"] is None, "returns are no results against anybody"
    assert not audit(fresh_store.engine, fresh_store.artifacts).findings
