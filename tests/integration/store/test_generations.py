"""A generation's outcome is recorded exactly once, whoever delivers it, and the payoff follows from the tallies."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from api.store.core.errors import Conflict, NotFound
from api.store.core.ids import new_id
from api.store.generations.outcome import OpponentTally, RecordedGeneration, TrainedGeneration
from api.store.generations.record import record_generation
from api.store.payoffs.cells import CellKey, load_payoff, stored_cells, upsert_cells
from api.store.payoffs.replay import replay_payoff
from api.store.tables import (
    Commit,
    Decision,
    Event,
    Generation,
    Metric,
    ModelVersion,
    Payoff,
    Player,
    ReturnTally,
    Tally,
    Trial,
)
from league.payoff import Cell, decayed
from league.types import Decision as Verdict
from league.types import DecisionKind, Earned, PlayerId, Stream
from league.types import ReturnTally as Returned
from tests.integration.store.league import League

ROWS_OF_A_GENERATION = (ModelVersion, Generation, Tally, Metric, Payoff, Event, Commit)


def deliver(league: League, outcome: TrainedGeneration) -> RecordedGeneration:
    with league.sessions.begin() as session:
        return record_generation(session, outcome)


def counts(league: League) -> dict[str, int]:
    with league.sessions() as session:
        return {
            model.__tablename__: session.scalars(
                select(func.count()).select_from(model).where(model.trial_id == league.trial_id)
            ).one()
            for model in ROWS_OF_A_GENERATION
        }


def test_one_transaction_records_everything(league: League) -> None:
    before = counts(league)
    start = league.version_of("main")
    snapshot = Verdict(kind=DecisionKind.SNAPSHOT, verdict="no", reason="too few steps", evidence={"steps": 1000})
    outcome = replace(
        league.outcome("main", 1),
        decisions=(snapshot,),
        returns=Returned(games=3, mean=0.5, deviations=1.5),
        matchmaker_state={"quality": 1.5},
    )
    recorded = deliver(league, outcome)

    assert (recorded.won, recorded.commit, recorded.version_number, recorded.player_steps) == (True, 1, 1, 1000)
    with league.sessions() as session:
        version = session.get_one(ModelVersion, recorded.version_id)
        assert (version.parent_id, version.sha256, version.commit) == (start.id, outcome.checkpoint.sha256, 1)
        trial = session.get_one(Trial, league.trial_id)
        assert (trial.last_commit, trial.payoff_revision, trial.steps) == (1, 1, 1000)
        player = session.get_one(Player, league.players["main"])
        assert (player.generation, player.steps) == (1, 1000)
        decision = session.scalars(select(Decision).where(Decision.trial_id == league.trial_id)).one()
        assert (decision.kind, decision.version_id, decision.commit) == (DecisionKind.SNAPSHOT, version.id, 1)
        returns = session.scalars(select(ReturnTally).where(ReturnTally.version_id == version.id)).one()
        assert (returns.games, returns.mean, returns.deviations) == (3, 0.5, 1.5)
        generation = session.get_one(Generation, (player.id, 1))
        assert generation.matchmaker_state == {"quality": 1.5}
    grown = {name: after - before[name] for name, after in counts(league).items()}
    assert grown == {
        "model_versions": 1,
        "generations": 1,
        "tallies": 4,
        "metrics": 2,
        "payoffs": 8,
        "events": 1,
        "commits": 1,
    }


def test_a_second_delivery_gets_the_first_result_and_adds_nothing(league: League) -> None:
    outcome = league.outcome("main", 1)
    first = deliver(league, outcome)
    after_first = counts(league)
    loser = replace(outcome, attempt=2, checkpoint=replace(outcome.checkpoint, sha256="0" * 64))
    for again in (outcome, loser):
        assert deliver(league, again) == replace(first, won=False)
    assert counts(league) == after_first


def test_of_racing_attempts_one_is_recorded(league: League) -> None:
    racers, generations = 4, 8
    for generation in range(1, generations + 1):
        attempts = [league.outcome("main", generation, attempt=attempt + 1) for attempt in range(racers)]
        gun = threading.Barrier(racers)

        def race(outcome: TrainedGeneration, gun: threading.Barrier = gun) -> RecordedGeneration:
            gun.wait()
            return deliver(league, outcome)

        with ThreadPoolExecutor(racers) as pool:
            results = list(pool.map(race, attempts))
        assert sorted(result.won for result in results) == [False] * (racers - 1) + [True]
        assert len({replace(result, won=False) for result in results}) == 1
    assert counts(league)["generations"] == generations


def test_players_that_record_at_once_get_dense_commits_and_a_replayable_payoff(league: League) -> None:
    def live(name: str) -> list[int]:
        return [deliver(league, league.outcome(name, g, wins=g % 4)).commit for g in range(1, 13)]

    with ThreadPoolExecutor(2) as pool:
        commits = [commit for numbers in pool.map(live, ["main", "rival"]) for commit in numbers]
    assert sorted(commits) == list(range(1, 25))
    with league.sessions() as session:
        stored = stored_cells(session, league.trial_id)
        assert len(stored) == 12
        assert stored == replay_payoff(session, league.trial_id)
        assert all(stored[key.mirrored()] == cell.mirrored() for key, cell in stored.items())


KILLED_BEFORE_COMMIT = """
import pickle, sys, time
from api.store.core.engine import create_store_engine, session_factory
from api.store.generations.record import record_generation

url, outcome = pickle.load(sys.stdin.buffer)
with session_factory(create_store_engine(url)).begin() as session:
    record_generation(session, outcome)
    sys.stdout.write("recorded\\n")
    sys.stdout.flush()
    time.sleep(3600)
"""


def test_a_worker_killed_before_its_commit_leaves_nothing(league: League, postgres_url: str) -> None:
    before = counts(league)
    outcome = league.outcome("main", 1)
    with subprocess.Popen(
        [sys.executable, "-c", KILLED_BEFORE_COMMIT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as worker:
        assert worker.stdin is not None and worker.stdout is not None
        pickle.dump((postgres_url, outcome), worker.stdin)
        worker.stdin.close()
        assert worker.stdout.readline() == b"recorded\n"
        worker.kill()
    assert counts(league) == before
    assert deliver(league, outcome).won


def test_generations_come_in_order_and_from_the_present_version(league: League) -> None:
    first = league.outcome("main", 1)
    with pytest.raises(Conflict, match="generation 2 of main cannot follow generation 0"):
        deliver(league, replace(first, generation=2))
    deliver(league, first)
    with pytest.raises(Conflict, match=r"started from version .* present version is .* \(number 1\)"):
        deliver(league, replace(league.outcome("main", 2), parent_version_id=first.parent_version_id))
    assert counts(league)["generations"] == 1


def test_a_player_of_another_trial_is_not_found(league: League, sessions: sessionmaker[Session]) -> None:
    stranger = League.found(sessions)
    outcome = replace(league.outcome("main", 1), player_id=stranger.players["main"])
    with pytest.raises(NotFound, match="no player"):
        deliver(league, outcome)
    with pytest.raises(NotFound, match="no trial"):
        deliver(league, replace(outcome, trial_id=new_id()))


def test_self_play_is_tallied_but_is_no_payoff_entry(league: League) -> None:
    tallies = (
        OpponentTally(opponent_version_id=league.version_of("main").id, seat=0, wins=3),
        OpponentTally(opponent_version_id=league.version_of("random").id, seat=0, wins=2),
        OpponentTally(opponent_version_id=league.version_of("rival").id, seat=0),
    )
    deliver(league, replace(league.outcome("main", 1), tallies=tallies))
    seen = counts(league)
    assert (seen["tallies"], seen["payoffs"]) == (2, 2)


def test_the_payoff_is_the_decayed_sum_and_loads_for_the_rules(league: League) -> None:
    deliver(league, league.outcome("main", 1, wins=5))
    deliver(league, league.outcome("main", 2, wins=0))
    main, rival = league.players["main"], league.players["rival"]
    expected = decayed(decayed(Cell(), 5, 2, 1, 0.99, Earned(4, -4)), 0, 2, 1, 0.99, Earned(-1, 1))
    with league.sessions() as session:
        key = CellKey(stream=Stream.TRAINING, player_id=main, opponent_id=rival, seat=0, opponent_seat=1)
        cell = stored_cells(session, league.trial_id)[key]
        assert (cell.decayed, cell.revision) == (expected, 2)
        assert cell.raw == (5, 4, 2)
        payoff = load_payoff(session, session.get_one(Trial, league.trial_id), min_games=8)
    assert payoff.win_rate(PlayerId(main), PlayerId(rival)) == pytest.approx(expected.win_rate)
    assert payoff.raw_games(PlayerId(rival), PlayerId(main)) == 22


def test_returns_are_kept_beside_results_and_decayed_like_them(league: League) -> None:
    """A rare large loss outweighs many small wins, which the win rate does not see."""
    main, rival = PlayerId(league.players["main"]), PlayerId(league.players["rival"])
    for generation in (1, 2):
        outcome = league.outcome("main", generation, wins=5)
        tallies = tuple(replace(tally, earned=Earned(-7.0, 7.0)) for tally in outcome.tallies)
        deliver(league, replace(outcome, tallies=tallies))
    with league.sessions() as session:
        trial = session.get_one(Trial, league.trial_id)
        payoff = load_payoff(session, trial, min_games=8)
        assert stored_cells(session, trial.id) == replay_payoff(session, trial.id)
    assert payoff.win_rate(main, rival) > 0.7
    assert payoff.return_margin(main, rival) == pytest.approx(-7 / 8)
    assert payoff.return_margin(rival, main) == pytest.approx(7 / 8)


def test_games_without_returns_leave_the_mean_return_unknown(league: League) -> None:
    main, rival = PlayerId(league.players["main"]), PlayerId(league.players["rival"])
    deliver(league, league.outcome("main", 1))
    outcome = league.outcome("main", 2)
    deliver(league, replace(outcome, tallies=tuple(replace(tally, earned=None) for tally in outcome.tallies)))
    with league.sessions() as session:
        payoff = load_payoff(session, session.get_one(Trial, league.trial_id), min_games=8)
    assert math.isnan(payoff.return_margin(main, rival))


def test_a_fork_replays_on_top_of_its_origin(league: League, sessions: sessionmaker[Session]) -> None:
    deliver(league, league.outcome("main", 1, wins=9))
    deliver(league, league.outcome("main", 2, wins=0))
    fork = League.found(sessions)
    with sessions.begin() as session:
        trial = session.get_one(Trial, fork.trial_id)
        trial.forked_from_trial_id, trial.forked_at_commit = league.trial_id, 1
        for name, player_id in fork.players.items():
            session.get_one(Player, player_id).forked_from_player_id = league.players[name]
        session.flush()
        upsert_cells(session, fork.trial_id, replay_payoff(session, fork.trial_id))
    deliver(fork, fork.outcome("main", 1, wins=3))
    with sessions() as session:
        stored = stored_cells(session, fork.trial_id)
        assert stored == replay_payoff(session, fork.trial_id)
    key = CellKey(
        stream=Stream.TRAINING,
        player_id=fork.players["main"],
        opponent_id=fork.players["random"],
        seat=1,
        opponent_seat=0,
    )
    assert stored[key].raw[0] == 12
