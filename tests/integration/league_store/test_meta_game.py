"""Policy-space response oracles in the store: the pool's games are all played before the next response is planned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import text
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from api.store.tables import Pairing, Payoff
from league.types import DecisionKind, Stream
from orchestrator.contracts.generations import GenerationPlan
from orchestrator.contracts.tournaments import (
    Opened,
    PairingReport,
    TournamentEnd,
    TournamentPlan,
    TournamentRequest,
    TrialEvaluation,
)
from orchestrator.contracts.trials import StatusChange
from tests.integration.league_store.driver import MAIN, STEPS, League, Store, league_file
from tests.integration.league_store.games import played

EVERY_GENERATION = {"min_steps": STEPS, "max_steps": STEPS, "win_rate": 1.0}


@pytest.fixture
def league(store: Store) -> League:
    """A pool that grows with every generation."""
    return found(store)


def found(store: Store, players: Sequence[dict[str, Any]] = (MAIN,), games: int = 200, **rules: Any) -> League:
    file = league_file("psro", players=players, snapshot=EVERY_GENERATION, champion_gate=None, **rules)
    league = store.found(file | {"evaluation": {"games": games}})
    store("change_status", StatusChange(trial=league.trial, status="running"))
    return league


def evaluation(league: League, name: str = "main") -> Opened:
    main = league.player(name)
    due = TrialEvaluation(trial=league.trial, player=main.id, generation=main.generation)
    opened: Opened = league.store("open_trial_evaluation", due)
    return opened


def play(league: League, tournament: str, scores: tuple[float, ...] = (1.0,)) -> int:
    """Play a tournament to its end; how many pairings it had."""
    plan: TournamentPlan = league.store("plan_pairings", TournamentRequest(tournament=tournament))
    for pairing in plan.pairings:
        outcome = played(pairing.request, scores)
        place = {"tournament": tournament, "round": pairing.round, "pair": pairing.pair}
        league.store("record_pairing", PairingReport(outcome=outcome, **place))
    league.store("end_tournament", TournamentEnd(tournament=tournament, status="completed", reason=""))
    return len(plan.pairings)


def respond(league: League) -> None:
    """One whole iteration: a response, its snapshot, its games."""
    league.live("main")
    tournament = evaluation(league).tournament
    if tournament is not None:
        play(league, tournament)


def test_a_lonely_response_meets_nobody(league: League) -> None:
    league.live("main")
    assert evaluation(league) == Opened(tournament=None, reason="the pool has fewer than two members")


def test_every_response_meets_the_whole_pool(store: Store, league: League) -> None:
    for _ in range(4):
        respond(league)
    met = store.rows(Payoff, Payoff.trial_id == league.trial, Payoff.stream == Stream.RATING, Payoff.seat == 0)
    pairs = {(cell.player_id, cell.opponent_id) for cell in met}
    assert len(pairs) == 4 * 3
    league.plan("main")
    assert league.decisions(DecisionKind.MATCHMAKING)[-1].reason == "a game of mean returns"


def test_the_next_response_waits_for_the_games_of_the_last(league: League) -> None:
    respond(league)
    league.live("main")
    opened = evaluation(league)
    assert opened.tournament is not None
    with pytest.raises(ApplicationError, match="waits for the games of 'main after generation 2'") as refusal:
        league.plan("main")
    assert not refusal.value.non_retryable
    assert refusal.value.category is ApplicationErrorCategory.BENIGN
    assert play(league, opened.tournament) == 1
    assert opponents(league, league.plan("main")) == {"main-2": 1.0}


def opponents(league: League, plan: GenerationPlan) -> dict[str, float]:
    names = {league.player(name).id: name for name in league.names()}
    return {names[each.player]: pytest.approx(each.probability) for each in plan.opponents}


def test_a_trial_that_ends_does_not_wait(store: Store, league: League) -> None:
    respond(league)
    league.live("main")
    assert evaluation(league).tournament is not None
    store("change_status", StatusChange(trial=league.trial, status="stopping"))
    assert league.plan("main").opponents


@pytest.mark.parametrize("status", ["pausing", "paused"])
def test_a_trial_that_pauses_still_waits(store: Store, league: League, status: str) -> None:
    """Or the plan that it finds when it goes on rests on a game with entries missing."""
    respond(league)
    league.live("main")
    assert evaluation(league).tournament is not None
    store("change_status", StatusChange(trial=league.trial, status=status))
    with pytest.raises(ApplicationError, match="waits for the games"):
        league.plan("main")


def test_nobody_waits_for_ever(store: Store, league: League) -> None:
    respond(league)
    league.live("main")
    opened = evaluation(league)
    with store.sessions.begin() as session:
        late = "UPDATE tournaments SET created_at = created_at - interval '11 minutes' WHERE id = :id"
        session.execute(text(late), {"id": opened.tournament})
    assert league.plan("main").opponents


def test_other_presets_never_wait(store: Store) -> None:
    league = store.found(league_file("pfsp", players=[MAIN], snapshot=EVERY_GENERATION))
    league.live("main", 2)
    assert evaluation(league).tournament is not None
    assert league.plan("main").opponents


def test_where_several_have_not_met_just_the_lacking_pairs_are_played(league: League) -> None:
    """As when evaluations come less often than snapshots: no pair counts as even for ever, none is played again."""
    for _ in range(3):
        respond(league)
    league.live("main", 2)
    assert play(league, opened(league)) == 3 + 3 + 1
    assert lacking(league) == 0


def opened(league: League, name: str = "main") -> str:
    tournament = evaluation(league, name).tournament
    assert tournament is not None
    return tournament


def lacking(league: League, name: str = "main") -> int:
    """Pairs that the next plan counts as even."""
    league.plan(name)
    note = league.decisions(DecisionKind.MATCHMAKING)[-1].reason
    _, _, missing = note.partition("; ")
    return int(missing.split()[0]) if missing else 0


def test_a_pair_plays_as_many_games_as_it_takes_to_count(store: Store) -> None:
    """Where the evaluation's games, spread over the pool, are fewer than that."""
    league = found(store, payoff={"min_games": 7}, games=10)
    for _ in range(4):
        respond(league)
    assert lacking(league) == 0
    assert {pairing.games for pairing in store.rows(Pairing, Pairing.trial_id == league.trial)} == {8, 10}


def test_a_pair_with_too_few_games_plays_again(store: Store, league: League) -> None:
    for _ in range(3):
        respond(league)
    few = (
        "UPDATE payoffs SET raw_wins = 1, raw_losses = 1, raw_draws = 0, wins = 1, losses = 1, draws = 0"
        " WHERE trial_id = :trial AND stream = 'rating'"
    )
    behind_its_back(store, few, league)
    league.live("main")
    assert play(league, opened(league)) == 3 + 3


def test_a_withdrawn_snapshot_keeps_nobody_waiting(store: Store, league: League) -> None:
    """Nor do its pairs make everyone after it a newcomer for ever."""
    respond(league)
    league.live("main")
    tournament = opened(league)
    league.store("plan_pairings", TournamentRequest(tournament=tournament))
    withdrawn = "UPDATE tournament_entrants SET withdrawn = 'damaged' WHERE tournament_id = :tournament AND number = 0"
    behind_its_back(store, withdrawn, league, tournament=tournament)
    league.store("end_tournament", TournamentEnd(tournament=tournament, status="completed", reason=""))
    for size in (2, 3):
        league.live("main")
        assert play(league, opened(league)) == size - 1


def test_a_snapshot_of_equal_weights_is_one_member(store: Store, league: League) -> None:
    respond(league)
    respond(league)
    league.live("main")
    first, twin = (league.versions(name)[0] for name in ("main-1", "main-3"))
    equal = "UPDATE model_versions SET sha256 = :sha256 WHERE id = :twin"
    behind_its_back(store, equal, league, sha256=first.sha256, twin=twin.id)
    league.live("main")
    assert play(league, opened(league)) == 2
    assert set(opponents(league, league.plan("main"))) <= {"main-1", "main-2", "main-4"}
    assert lacking(league) == 0


def test_two_mains_share_the_games_of_their_pool(store: Store) -> None:
    league = found(store, players=[MAIN, {"name": "other", "role": "main"}])
    league.live("main")
    league.live("other")
    tournament = opened(league)
    assert evaluation(league, "other") == Opened(
        tournament=None, reason="the games of the unplayed pairs are under way"
    )
    with pytest.raises(ApplicationError, match="waits for the games of 'main after generation 1'"):
        league.plan("other")
    assert play(league, tournament) == 1
    league.live("main")
    tournament = opened(league)
    assert play(league, tournament) == 2
    league.live("other")
    assert play(league, opened(league, "other")) == 3


def behind_its_back(store: Store, statement: str, league: League, **values: Any) -> None:
    """A change past every trigger."""
    with store.sessions.begin() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        bound = {"trial": league.trial} | values
        session.execute(text(statement), {name: value for name, value in bound.items() if f":{name}" in statement})
