"""Leagues and tournaments of three teams, of three seats each for itself, and of unequal teams, counted by hand.

The game is Relay: every seat chooses 0, 1 or 2, and the team with the highest sum earns 1, unless two share it. Here
everybody always chooses the same number, so that a game is known from who plays which team.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from api.schemas.enums import RatingMethod
from api.store.core.engine import create_store_engine
from api.store.tables import Match, Pairing, Payoff, Project, Rating, RatingFit
from api.store.tournaments.lifecycle import create_tournament
from api.store.verify import audit
from league.types import CheckpointRef, Stream
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationReport
from orchestrator.contracts.play import PlayOutcome
from orchestrator.contracts.tournaments import PairingReport, TournamentPlan, TournamentRequest
from orchestrator.contracts.trials import EnterPlayers, TrialRequest
from orchestrator.spec.tournament import check_tournament
from orchestrator.storage.artifacts import ArtifactStore
from tests.integration.league_store.driver import League, Store
from workers.activities.playing import games_of, match_task
from workers.checkpoints import Checkpoint, save
from workers.crews.generation import run_generation
from workers.games.names import make_game
from workers.matches.play import play_match
from workers.models.contract import build_model

RELAY = "tests.unit.training.samples:Relay"
SHAPES = {"2v2": (0, 1, 0, 1), "1v3": (0, 1, 1, 1), "three seats": (0, 1, 2), "2v2v2": (0, 0, 1, 1, 2, 2)}
CHOICE = {"main": 1, "high": 2, "low": 0}
BOTS = [{"name": name, "role": "bot", "bot": f"always-{CHOICE[name]}"} for name in ("high", "low")]
TABLES, STEPS = 12, 8

Cells = dict[tuple[str, str, int, int], Counter[str]]
"""Results by player, opponent and the teams of both."""


@pytest.fixture
def store(fresh_postgres_url: str, tmp_path: Path) -> Iterator[Store]:
    engine = create_store_engine(fresh_postgres_url, pool_size=2)
    yield Store.open(engine, ArtifactStore(str(tmp_path / "artifacts")))
    engine.dispose()


def earned(teams: tuple[int, ...], players: list[str]) -> list[int]:
    """What each team earns, by the player that has the team."""
    sums = [teams.count(team) * CHOICE[player] for team, player in enumerate(players)]
    return [int(each == max(sums) and sums.count(each) == 1) for each in sums]


def count(cells: Cells, teams: tuple[int, ...], player: str, opponent: str, mine: int, games: int = 1) -> None:
    """Count games of a player in team `mine` against an opponent in all others, for both sides."""
    found = earned(teams, [player if team == mine else opponent for team in range(max(teams) + 1)])
    for other in range(max(teams) + 1):
        if other != mine:
            word = {1: "wins", 0: "draws", -1: "losses"}[found[mine] - found[other]]
            mirrored = {"wins": "losses", "losses": "wins", "draws": "draws"}[word]
            cells.setdefault((player, opponent, mine, other), Counter())[word] += games
            cells.setdefault((opponent, player, other, mine), Counter())[mirrored] += games


def stored(store: Store, league: League, stream: Stream) -> Cells:
    names = {league.player(name).id: name for name in league.names()}
    rows = store.rows(Payoff, Payoff.trial_id == league.trial, Payoff.stream == stream)
    return {
        (names[row.player_id], names[row.opponent_id], row.seat, row.opponent_seat): +Counter(
            wins=row.raw_wins, draws=row.raw_draws, losses=row.raw_losses
        )
        for row in rows
    }


def chooses_one(artifacts: ArtifactStore, game: Component) -> CheckpointRef:
    """Weights of a model that always chooses 1."""
    model = Component(id="mlp", options={"hidden": [8]})
    built = build_model(model, make_game(game.id, 1, **game.options).spec)
    weights = {name: tensor * 0 for name, tensor in built.state_dict().items()}
    weights["heads.bias"][1] = 60.0
    return save(artifacts, Checkpoint(model=model, game=game, weights=weights))


def league_of(store: Store, teams: tuple[int, ...]) -> League:
    """A main that chooses 1 and hardly learns, half of its games against each of two bots."""
    game = {"id": RELAY, "teams": list(teams)}
    file: dict[str, Any] = {
        "game": game,
        "seed": 3,
        "model": {"id": "mlp", "hidden": [8]},
        "algorithm": {"id": "ppo", "learning_rate": 1e-12, "rollout_steps": STEPS, "minibatch": 4096},
        "league": {
            "preset": "pfsp",
            "players": [{"name": "main", "role": "main"}, *BOTS],
            "matchmaking": {"self_play_share": 0.0, "weighting": "uniform", "include_bots": True},
            "champion_gate": None,
        },
        "generation": {"steps": TABLES * STEPS, "tables": TABLES},
        "budget": {"steps": 1_000_000},
    }
    league = store.create(file)
    store("begin_trial", TrialRequest(trial=league.trial))
    component = Component(id=RELAY, options={"teams": list(teams)})
    store("enter_players", EnterPlayers(trial=league.trial, initial=chooses_one(store.artifacts, component)))
    return league


def train(store: Store, league: League) -> list[str]:
    """Train and record a generation; returns the opponents in the order of their tables."""
    plan = league.plan("main")
    trained = run_generation(plan, store=store.artifacts, progress=lambda _: None, should_stop=lambda: False)
    outcome = replace(trained, started_at=1.0, finished_at=2.0)
    report = GenerationReport(trial=plan.trial, player=plan.player, generation=plan.generation, outcome=outcome)
    store("record_generation", report)
    assert [opponent.probability for opponent in plan.opponents] == [0.5, 0.5]
    return [opponent.player_name for opponent in plan.opponents]


def hold(store: Store, league: League, teams: tuple[int, ...], games: int) -> tuple[str, Cells]:
    """Play a round robin of the league's players to its end; returns its id and its results counted by hand."""
    project, name = league.row.project_id, league.row.name
    with store.sessions.begin() as session:
        spec = check_tournament({"trial": name, "entrants": ["latest", "bots"], "games": games, "seed": 5})
        tournament = create_tournament(session, project_name(store, project), spec).id
    counted: Cells = {}
    while (plan := planned(store, tournament)).pairings:
        for pairing in plan.pairings:
            sides = [player_of(league, contender.version) for contender in pairing.request.contenders]
            played = games_of(play_match(match_task(pairing.request), store=store.artifacts))
            for pair in range(games // 2):
                seatings = sorted(tuple(game.seating) for game in played if game.pair == pair)
                assert seatings == sorted(
                    tuple(int(team != mine) for team in teams) for mine in range(max(teams) + 1)
                ), "the first side has each team once"
                for mine in range(max(teams) + 1):
                    count(counted, teams, sides[0], sides[1], mine)
            outcome = PlayOutcome(games=played)
            report = PairingReport(tournament=tournament, round=pairing.round, pair=pairing.pair, outcome=outcome)
            store("record_pairing", report)
    store("rate_tournament", TournamentRequest(tournament=tournament))
    return tournament, counted


def planned(store: Store, tournament: str) -> TournamentPlan:
    plan: TournamentPlan = store("plan_pairings", TournamentRequest(tournament=tournament))
    return plan


def project_name(store: Store, project_id: str) -> str:
    return store.rows(Project, Project.id == project_id)[0].name


def player_of(league: League, version: str) -> str:
    return next(name for name in league.names() if version in {each.id for each in league.versions(name)})


@pytest.mark.usefixtures("local_ray")
def test_a_league_of_three_teams_trains_and_holds_a_tournament(store: Store) -> None:
    teams = SHAPES["2v2v2"]
    league = league_of(store, teams)
    first, second = train(store, league)
    expected: Cells = {}
    for table in range(TABLES):  # each half of the tables meets one opponent; the learner's team rotates
        count(expected, teams, "main", first if table < TABLES // 2 else second, table % 3, STEPS)
    assert stored(store, league, Stream.TRAINING) == expected
    assert expected["main", "high", 0, 1] == {"draws": 16}, "two teams share the highest sum, and nobody earns"
    assert expected["main", "low", 2, 0] == {"wins": 16}

    tournament, counted = hold(store, league, teams, games=4)
    assert stored(store, league, Stream.RATING) == counted
    matches = store.rows(Match, Match.tournament_id == tournament)
    assert Counter(match.seat for match in matches) == {0: 6, 1: 6, 2: 6}, "three pairings of two seeds"
    fits = {fit.method: fit for fit in store.rows(RatingFit, RatingFit.tournament_id == tournament)}
    assert RatingMethod.ELO_ONLINE not in fits, "Elo knows two sides"
    ranks = {player_of(league, row.version_id): row.rank for row in ratings(store, fits[RatingMethod.OPENSKILL])}
    assert (ranks["high"], ranks["low"]) == (1, 3)
    assert not audit(store.engine, store.artifacts).findings


def ratings(store: Store, fit: RatingFit) -> list[Rating]:
    return store.rows(Rating, Rating.fit_id == fit.id)


BY_HAND: dict[str, dict[str, dict[str, int]]] = {
    "2v2": {"main": {"wins": 4, "losses": 4}, "high": {"wins": 8}, "low": {"losses": 8}},
    "1v3": {"main": {"wins": 6, "losses": 2}, "high": {"wins": 6, "losses": 2}, "low": {"losses": 8}},
    # main, low and high are the first side once each; two seats of one choice share the highest sum, and nobody earns
    "three seats": {"main": {"draws": 24}, "high": {"wins": 12, "draws": 12}, "low": {"losses": 12, "draws": 12}},
}


@pytest.mark.parametrize("shape", ["2v2", "1v3", "three seats"])
def test_a_tournament_swaps_teams_and_counts_them(store: Store, shape: str) -> None:
    teams = SHAPES[shape]
    league = league_of(store, teams)
    tournament, counted = hold(store, league, teams, games=4)
    assert stored(store, league, Stream.RATING) == counted
    pairings = store.rows(Pairing, Pairing.tournament_id == tournament)
    assert sum(pairing.games for pairing in pairings) == 3 * 2 * (max(teams) + 1)
    totals: dict[str, Counter[str]] = {}
    for (name, *_), cell in counted.items():
        totals.setdefault(name, Counter()).update(cell)
    assert totals == BY_HAND[shape]
    assert not audit(store.engine, store.artifacts).findings
