"""Who takes part, what their games count for, and what the winner gets."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select

from api.schemas.enums import RatingMethod
from api.store.aliases.moves import AliasKey, Promotion, move_alias
from api.store.core.errors import Conflict, NotFound
from api.store.payoffs.cells import stored_cells
from api.store.payoffs.replay import replay_payoff
from api.store.tables import Alias, AliasEvent, Decision, Pairing, Player, Project, Rating, RatingFit, Tournament, Trial
from api.store.tournaments.lifecycle import create_tournament
from api.store.tournaments.report_reads import report_state
from api.store.tournaments.results import entrants_of
from api.store.trials.reads import TrialFilter, list_trials
from league.types import DecisionKind, Stream
from orchestrator.contracts.play import PlayedGame, PlayOutcome
from orchestrator.contracts.tournaments import (
    PairingReport,
    PlannedPairing,
    TournamentEnd,
    TournamentRequest,
    TrialEvaluation,
)
from orchestrator.spec import InvalidTrial
from orchestrator.spec.tournament import check_tournament
from tests.integration.league_store.driver import MAIN, RANDOM, League, Store, league_file
from tests.integration.tournaments.hall import Hall

BOTS = [{"name": "perfect", "role": "bot", "bot": "minimax"}, {"name": "half", "role": "bot", "bot": "minimax-0.5"}]


@pytest.fixture(scope="module")
def store(hall: Hall) -> Iterator[Store]:
    yield Store.open(hall.engine, hall.artifacts)


@pytest.fixture
def league(store: Store) -> League:
    """A trial that has learnt for four generations and has two snapshots."""
    league = store.found(league_file(players=(MAIN, RANDOM, *BOTS)))
    league.live("main", 4)
    return league


def names(hall: Hall, league: League, *entrants: str, **spec: Any) -> list[str]:
    return hall.labels(make(hall, league, entrants=entrants, **spec))


def make(hall: Hall, league: League, **spec: Any) -> str:
    with hall.sessions.begin() as session:
        checked = check_tournament({"trial": league.row.name, **spec})
        return create_tournament(session, project_of(hall, league), checked).id


def project_of(hall: Hall, league: League) -> str:
    return hall.rows(Project, Project.id == league.row.project_id)[0].name


def scored(pairing: PlannedPairing, wins: int) -> PlayOutcome:
    """A made-up outcome in which the first contender wins so many games."""
    games = []
    for number in range(2 * pairing.request.pairs):
        seating = [0, 1] if number % 2 == 0 else [1, 0]
        side = 0 if number < wins else 1
        returns = [1.0 if each == side else -1.0 for each in seating]
        games.append(PlayedGame(pair=number // 2, seating=seating, seed=number // 2, returns=returns, moves=[number]))
    return PlayOutcome(games=games)


def hold(hall: Hall, tournament: str, wins: dict[str, int]) -> None:
    """Play a whole tournament with made-up results: wins of the first-named side by its label, of ten games."""
    labels = hall.labels(tournament)
    while plan := hall.store["plan_pairings"](TournamentRequest(tournament=tournament)).pairings:
        for pairing in plan:
            row = hall.rows(
                Pairing,
                Pairing.tournament_id == tournament,
                Pairing.round == pairing.round,
                Pairing.pair == pairing.pair,
            )[0]
            outcome = scored(pairing, wins[f"{labels[row.first]}-{labels[row.second]}"])
            report = PairingReport(tournament=tournament, round=pairing.round, pair=pairing.pair, outcome=outcome)
            hall.store["record_pairing"](report)
    hall.store["rate_tournament"](TournamentRequest(tournament=tournament))
    hall.store["end_tournament"](TournamentEnd(tournament=tournament, status="completed"))


def test_rules_find_versions_in_their_order_and_each_policy_once(hall: Hall, league: League) -> None:
    assert names(hall, league, "bots", "bot:random") == ["minimax-0.5", "minimax", "random"]
    snapshots = [each for each in league.names() if league.player(each).role == "historical"]
    assert len(snapshots) == 2
    assert names(hall, league, "snapshots", "bot:random") == [*snapshots, "random"]
    assert names(hall, league, "every:2/main", "bot:random") == ["main v0", "main v2", "main v4", "random"]
    newest = league.versions("main")[-1].number
    assert names(hall, league, "latest", "bot:random") == [f"main v{newest}", "random"]
    assert newest == 4 and names(hall, league, "latest", "snapshots") == ["main v4", snapshots[0]], (
        "the second snapshot has the weights of main v4 and does not play against itself"
    )
    version = league.versions("main")[1].id
    assert names(hall, league, f"version:{version}", "bot:minimax") == ["main v1", "minimax"]


def test_other_trials_of_the_game_take_part(hall: Hall, store: Store, league: League) -> None:
    other = store.found(project=project_of(hall, league))
    labels = names(hall, league, "latest", "latest@*")
    assert labels[0] == "main v4" and f"{other.row.name}/main v0" in labels
    assert names(hall, league, f"latest@{other.row.name}", "bot:random")[0] == f"{other.row.name}/main v0"


def test_what_cannot_be_found_is_said(hall: Hall, league: League) -> None:
    with pytest.raises(NotFound, match="the alias 'best' points at no version"):
        names(hall, league, "alias:best", "bot:random")
    with pytest.raises(NotFound, match="no trial named 'nobody'"):
        names(hall, league, "latest@nobody", "bot:random")
    with pytest.raises(Conflict, match="at least two entrants"):
        names(hall, league, "latest")
    with pytest.raises(InvalidTrial, match="must be one of latest"):
        names(hall, league, "newest")
    with pytest.raises(InvalidTrial, match="unknown bot"):
        names(hall, league, "bot:nobody", "latest")
    with pytest.raises(InvalidTrial, match="is an option of adaptive and swiss only"):
        names(hall, league, "latest", "bot:random", rounds=3)
    with pytest.raises(InvalidTrial, match="even"):
        names(hall, league, "latest", "bot:random", games=3)


def test_a_bot_that_no_trial_has_lives_in_a_trial_that_nobody_sees(hall: Hall) -> None:
    tournament = hall.make("lonely", entrants=["bot:random", "bot:minimax"])
    again = hall.make("lonely", entrants=["bot:minimax", "bot:random", "bot:first-legal"])
    with hall.sessions() as session:
        versions = [{each.label: each.version_id for each in entrants_of(session, one)} for one in (tournament, again)]
        assert list_trials(session, TrialFilter(project="lonely"), before=None, limit=5) == []
        houses = session.scalars(select(Trial).join(Project).where(Project.name == "lonely")).all()
    assert versions[0].items() <= versions[1].items(), "a bot has one version in the project"
    assert len(houses) == 1 and houses[0].workflow_started_at is not None, "nobody will start it"


def test_games_within_a_league_enter_its_payoff_and_can_be_replayed(hall: Hall, league: League) -> None:
    tournament = make(hall, league, entrants=["bot:random", "bot:minimax", "every:4/main"], games=10)
    wins = {"random-minimax": 0, "minimax-random": 10, "main v0-main v4": 4, "main v4-main v0": 5}
    wins |= {f"{a}-{b}": 6 for a in ("main v0", "main v4") for b in ("random", "minimax")}
    wins |= {f"{b}-{a}": 6 for a in ("main v0", "main v4") for b in ("random", "minimax")}
    hold(hall, tournament, wins)
    rows = hall.rows(Pairing, Pairing.tournament_id == tournament)
    assert len(rows) == 6 and all(row.trial_id == league.trial and row.commit for row in rows)
    with hall.sessions() as session:
        stored = stored_cells(session, league.trial)
        assert stored == replay_payoff(session, league.trial)
        players = {player.id: player.name for player in session.scalars(select(Player))}
        rating = {(players[key.player_id], players[key.opponent_id]) for key in stored if key.stream is Stream.RATING}
    assert ("random", "perfect") in rating and ("main", "random") in rating
    assert ("main", "main") not in rating, "a player against its own past is no payoff entry"


def test_ratings_of_two_tournaments_stand_on_the_random_bot(hall: Hall, league: League) -> None:
    for wins in (7, 9):
        tournament = make(hall, league, entrants=["latest", "bot:random"], games=10)
        hold(hall, tournament, {"main v4-random": wins, "random-main v4": 10 - wins})
    fits = sorted(hall.rows(RatingFit, RatingFit.project_id == league.row.project_id), key=lambda fit: fit.id)
    strengths = [fit for fit in fits if fit.method is RatingMethod.BRADLEY_TERRY]
    assert [fit.games for fit in strengths] == [10, 20], "all rating games so far, and the history is kept"
    assert {fit.settings["anchor"] for fit in strengths} == {"bot:random"}
    newest = league.versions("main")[-1].id
    values = [hall.rows(Rating, Rating.fit_id == fit.id, Rating.version_id == newest)[0] for fit in strengths]
    assert [round(each.value) for each in values] == [147, 241]
    assert all(each.deviation and each.deviation > 0 for each in values)


def test_the_state_of_a_report_changes_while_it_is_played_and_never_after(hall: Hall, league: League) -> None:
    def state() -> object:
        with hall.sessions() as session:
            return report_state(session, tournament)

    tournament = make(hall, league, entrants=["latest", "bot:random"], games=10)
    created = state()
    plan = hall.store["plan_pairings"](TournamentRequest(tournament=tournament)).pairings
    planned = state()
    outcome = scored(plan[0], 6)
    hall.store["record_pairing"](
        PairingReport(tournament=tournament, round=plan[0].round, pair=plan[0].pair, outcome=outcome)
    )
    played = state()
    hall.store["end_tournament"](TournamentEnd(tournament=tournament, status="completed"))
    ended = state()
    assert len({created, planned, played, ended}) == 4
    # a result that comes late is not recorded, so that what was computed stays right
    hall.store["record_pairing"](
        PairingReport(tournament=tournament, round=plan[0].round, pair=plan[0].pair, outcome=scored(plan[0], 1))
    )
    assert state() == ended
    with pytest.raises(NotFound, match="there is no tournament"), hall.sessions() as session:
        report_state(session, str(uuid.uuid4()))


@pytest.mark.parametrize(("wins", "promoted"), [(10, True), (6, False)])
def test_an_alias_moves_to_who_leads_the_field_by_more_than_chance(
    hall: Hall, league: League, wins: int, promoted: bool
) -> None:
    tournament = make(hall, league, entrants=["every:4/main", "bot:random"], games=10, cycles=4, promote={})
    scores = {"main v4-main v0": min(wins, 9), "main v0-main v4": 10 - min(wins, 9)}
    scores |= {"main v4-random": min(wins, 9), "random-main v4": 10 - min(wins, 9)}
    scores |= {"main v0-random": 5, "random-main v0": 5}
    hold(hall, tournament, scores)
    newest = league.versions("main")[-1].id
    (decision,) = hall.rows(
        Decision, Decision.kind == DecisionKind.PROMOTION, Decision.evidence["tournament_id"].astext == tournament
    )
    assert decision.version_id == newest
    moves = hall.rows(AliasEvent, AliasEvent.tournament_id == tournament)
    if promoted:
        assert decision.verdict == "promoted" and decision.evidence["low"] > 0
        assert [(move.to_version_id, move.move) for move in moves] == [(newest, "promoted")]
    else:
        assert decision.verdict == "kept" and decision.evidence["low"] <= 0 and moves == []


def test_a_generation_is_evaluated_once_against_the_field_of_its_trial(hall: Hall, league: League) -> None:
    key = AliasKey(project_id=league.row.project_id, game="tic_tac_toe", name="champion")
    with hall.sessions.begin() as session:
        move_alias(session, key, league.versions("main")[2].id, Promotion(reason="by hand", actor="test"))
    due = TrialEvaluation(trial=league.trial, player=league.player("main").id, generation=4)
    opened = hall.store["open_trial_evaluation"](due)
    assert opened == hall.store["open_trial_evaluation"](due), "the same one for every delivery"
    labels = hall.labels(opened.tournament)
    assert labels[0] == "main v4" and {"random", "minimax", "minimax-0.5"} < set(labels)
    row = hall.row(opened.tournament)
    assert row.format == "gauntlet" and row.spec["challenger_count"] == 1
    assert row.workflow_started_at is None, "reconciliation starts it, should the caller die"
    assert row.spec["games"] >= 2 and row.spec["games"] * (len(labels) - 1) <= 200, "the file's 200 games, spread"
    league.live("main")
    after = hall.store["open_trial_evaluation"](
        TrialEvaluation(trial=league.trial, player=league.player("main").id, generation=5)
    )
    assert after.tournament is None and "still under way" in after.reason
    assert hall.count(Alias, Alias.project_id == key.project_id) == 1
    assert hall.count(Tournament, Tournament.trial_id == league.trial) == 1


def test_a_version_with_search_is_an_entrant_of_its_own(hall: Hall, league: League) -> None:
    tournament = make(hall, league, entrants=["latest:main", "latest:main with search-8"])
    assert hall.labels(tournament) == ["main v4", "main v4+search-8"]
    again = make(hall, league, entrants=["latest:main with search-8", "bot:random"])
    with hall.sessions() as session:
        (_, searching), (same, _) = entrants_of(session, tournament), entrants_of(session, again)
        assert searching.version_id == same.version_id  # the same player, so that its ratings are one
    plan = hall.store["plan_pairings"](TournamentRequest(tournament=tournament)).pairings
    plain, with_search = plan[0].request.contenders
    assert with_search.bot == f"search-8-{plain.checkpoint.sha256}"
    with pytest.raises(InvalidTrial, match="only versions search"):
        make(hall, league, entrants=["bots with search-8"])
