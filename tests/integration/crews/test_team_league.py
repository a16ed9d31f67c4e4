"""The league of examples/soccer.yaml: payoffs by team, compared with games that are counted by hand.

All players here run forward or stand still. Seats 0 and 2 have a free lane, seats 1 and 3 stand in each other's. So a
game is a goal, after 6 steps, for the team of seat 0 (or 2) if that seat has the ball first and its team runs; every
other game is a draw after 40 steps.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from api.store.core.engine import create_store_engine
from api.store.tables import Match, Payoff
from api.store.verify import audit
from league.types import CheckpointRef, Stream
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationPlan, GenerationReport
from orchestrator.contracts.play import EvaluationKey, EvaluationReport, PlayOutcome, PlayRequest
from orchestrator.contracts.trials import EnterPlayers, TrialRequest
from orchestrator.spec.reading.loading import load_trial_file
from orchestrator.storage.artifacts import ArtifactStore
from tests.integration.league_store.driver import League, Store
from workers.activities.playing import games_of, match_task
from workers.checkpoints import Checkpoint, save
from workers.crews.generation import run_generation
from workers.games.builtin.soccer import FORWARD, kick_off
from workers.games.names import make_game
from workers.games.seeding import game_seeds
from workers.matches.play import play_match
from workers.models.contract import build_model

pytestmark = pytest.mark.usefixtures("local_ray")
EXAMPLE = Path(__file__).parents[3] / "examples" / "soccer.yaml"
TABLES, STEPS = 64, 64
RUNNERS = [
    {"name": "runner", "role": "bot", "bot": "always-forward"},
    {"name": "idle", "role": "bot", "bot": "always-stay"},
]
RUNS = {"main": True, "runner": True, "idle": False}

Cells = dict[tuple[str, str, int], Counter[str]]
"""Results by player, opponent and the player's team."""


@pytest.fixture
def store(fresh_postgres_url: str, tmp_path: Path) -> Iterator[Store]:
    engine = create_store_engine(fresh_postgres_url, pool_size=2)
    yield Store.open(engine, ArtifactStore(str(tmp_path / "artifacts")))
    engine.dispose()


@pytest.fixture
def league(store: Store) -> League:
    """The example with two bots whose play is known, half of the games against each, and a main that runs forward."""
    file: Any = load_trial_file(EXAMPLE).spec.to_json()
    file["league"]["players"][1:] = RUNNERS
    file["league"]["matchmaking"] |= {"self_play_share": 0.0, "weighting": "uniform"}
    file["algorithm"] |= {"learning_rate": 1e-12, "rollout_steps": 16, "minibatch": 4096}
    file["generation"] |= {"steps": TABLES * STEPS, "tables": TABLES}
    file["evaluation"] |= {"games": 40}
    file["budget"] = {"until": {"opponent": "runner", "win_rate": 0.8}}
    league = store.create(file)
    store("begin_trial", TrialRequest(trial=league.trial))
    store("enter_players", EnterPlayers(trial=league.trial, initial=runs_forward(store.artifacts)))
    return league


def runs_forward(artifacts: ArtifactStore) -> CheckpointRef:
    """Weights of a model that always runs forward."""
    game, model = Component(id="soccer"), Component(id="mlp", options={"hidden": [128, 128]})
    built = build_model(model, make_game("soccer", 1).spec)
    weights = {name: tensor * 0 for name, tensor in built.state_dict().items()}
    weights["heads.bias"][FORWARD] = 60.0
    return save(artifacts, Checkpoint(model=model, game=game, weights=weights))


def result(ball: int, runs: tuple[bool, bool]) -> str:
    """A game's result for team 0, by the seat that has the ball first and by which teams run."""
    if ball == 0 and runs[0]:
        return "wins"
    return "losses" if ball == 2 and runs[1] else "draws"


def count(cells: Cells, player: str, opponent: str, team: int, ball: int) -> None:
    """Count one game for both sides."""
    found = result(ball, (RUNS[player], RUNS[opponent]) if team == 0 else (RUNS[opponent], RUNS[player]))
    mirrored = {"wins": "losses", "losses": "wins", "draws": "draws"}
    cells.setdefault((player, opponent, team), Counter())[found if team == 0 else mirrored[found]] += 1
    cells.setdefault((opponent, player, 1 - team), Counter())[mirrored[found] if team == 0 else found] += 1


def counted_by_hand(plan: GenerationPlan) -> Cells:
    """Every game that begins within the steps of the generation, table by table.

    The first half of the tables meets the first opponent; the learner is team 0 at even tables and team 1 at odd ones.
    """
    names = [opponent.player_name for opponent in plan.opponents]
    assert [opponent.probability for opponent in plan.opponents] == [0.5, 0.5]
    seeds = np.random.default_rng([plan.seed, 2, 0]).integers(0, 2**64, TABLES, dtype=np.uint64)
    cells: Cells = {}
    for table in range(TABLES):
        opponent, team = names[table * 2 // TABLES], table % 2
        clock = game = 0
        while clock < STEPS:
            ball = int(kick_off(game_seeds(seeds[table : table + 1], np.array([game])))[0])
            count(cells, "main", opponent, team, ball)
            runs = (True, RUNS[opponent]) if team == 0 else (RUNS[opponent], True)
            clock, game = clock + (40 if result(ball, runs) == "draws" else 6), game + 1
    return cells


def stored(store: Store, league: League, stream: Stream) -> Cells:
    names = {league.player(name).id: name for name in league.names()}
    rows = store.rows(Payoff, Payoff.trial_id == league.trial, Payoff.stream == stream)
    assert {(row.seat, row.opponent_seat) for row in rows} == {(0, 1), (1, 0)}, "two teams, though there are four seats"
    for row in rows:
        assert row.returns == pytest.approx(row.wins - row.losses), "a goal is worth 1/2 to each of two seats"
    return {
        (names[row.player_id], names[row.opponent_id], row.seat): +Counter(
            wins=row.raw_wins, draws=row.raw_draws, losses=row.raw_losses
        )
        for row in rows
    }


def train(store: Store, plan: GenerationPlan) -> GenerationReport:
    trained = run_generation(plan, store=store.artifacts, progress=lambda _: None, should_stop=lambda: False)
    outcome = replace(trained, started_at=1.0, finished_at=2.0)
    return GenerationReport(trial=plan.trial, player=plan.player, generation=plan.generation, outcome=outcome)


def test_payoffs_are_those_of_the_games_counted_by_hand(store: Store, league: League) -> None:
    plan = league.plan("main")
    store("record_generation", train(store, plan))
    expected = counted_by_hand(plan)
    assert stored(store, league, Stream.TRAINING) == expected
    assert {name for cell in expected.values() for name in cell} == {"wins", "draws", "losses"}, "all three occur"

    player = league.player("main")
    at = EvaluationKey(trial=league.trial, player=player.id, generation=1)
    request: PlayRequest = store("plan_evaluation", at)
    games = games_of(play_match(match_task(request), store=store.artifacts))
    assert {tuple(game.seating) for game in games} == {(0, 0, 1, 1), (1, 1, 0, 0)}
    store(
        "record_evaluation",
        EvaluationReport(
            trial=at.trial, player=at.player, generation=1, request=request, outcome=PlayOutcome(games=games)
        ),
    )
    rated: Cells = {}
    for game in games:
        ball = int(kick_off(np.array([game.seed], np.uint64))[0])
        count(rated, "main", "runner", game.seating[0], ball)
    assert stored(store, league, Stream.RATING) == rated
    matches = store.rows(Match, Match.trial_id == league.trial)
    assert Counter(match.seat for match in matches) == {0: 20, 1: 20}
    report = audit(store.engine, store.artifacts)
    assert not report.findings
