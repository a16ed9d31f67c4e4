"""The speed of a trial whose players take turns: what was recorded and is under way, over the time that passed."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from api.schemas.enums import TrialStatus
from api.store.core.clock import now, up_since
from api.store.tables import Event, Trial
from api.store.trials.speed import RecentTraining, recent_training
from api.web.live.progress import speed_of
from league.training_speed import TrainedSpan
from tests.integration.league_store.driver import EXPLOITER, MAIN, RANDOM, STEPS, League, Store, league_file

TURN = 10.0


def take_turns(store: Store, *, turns: int, until: float, budget: int | None = None) -> League:
    """Two players on one crew, each generation of ten seconds, the last of which ended at `until`."""
    limits = {} if budget is None else {"budget": {"steps": budget}}
    league = store.found({**league_file(players=(MAIN, EXPLOITER, RANDOM)), "generation": {"steps": STEPS}, **limits})
    run_since(store, league, until - turns * TURN)
    for turn in range(turns):
        name = ("main", "exploiter")[turn % 2]
        report = league.report(league.plan(name))
        began = until - (turns - turn) * TURN
        outcome = replace(report.outcome, started_at=began, finished_at=began + TURN)
        store("record_generation", replace(report, outcome=outcome))
    return league


def run_since(store: Store, league: League, moment: float) -> None:
    """As if the trial had begun to run then."""
    began = {"type": "trial.status", "payload": {"from": "paused", "to": "running"}}
    with store.sessions.begin() as session:
        session.get_one(Trial, league.trial).status = TrialStatus.RUNNING
        session.add(Event(trial_id=league.trial, created_at=datetime.fromtimestamp(moment, UTC), **began))


@pytest.fixture(autouse=True)
def long_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Postgres of the tests may be younger than what they record."""
    came_up(monkeypatch, time.time() - 3600)


def came_up(monkeypatch: pytest.MonkeyPatch, moment: float) -> None:
    monkeypatch.setattr("api.store.trials.speed.up_since", lambda _: datetime.fromtimestamp(moment, UTC))


def recent(store: Store, league: League) -> RecentTraining:
    with store.sessions() as session:
        found = recent_training(session, league.trial, datetime.now(UTC))
    assert found is not None
    return found


def test_two_players_that_take_turns_have_the_speed_of_one_crew(store: Store) -> None:
    league = take_turns(store, turns=8, until=time.time())
    speed = speed_of(recent(store, league), [])
    assert speed.steps_per_second == pytest.approx(STEPS / TURN, rel=0.1), "not that of two crews"
    assert speed.measured_seconds == pytest.approx(8 * TURN, abs=8)


def test_what_is_under_way_counts_and_shortens_the_time_left(store: Store) -> None:
    now = time.time()
    league = take_turns(store, turns=4, until=now - TURN / 2, budget=100 * STEPS)
    half = TrainedSpan(STEPS // 2, now - TURN / 2, now)
    known = recent(store, league)
    without, with_it = speed_of(known, []), speed_of(known, [half])
    assert with_it.steps_per_second > without.steps_per_second
    assert with_it.steps_under_way == STEPS // 2
    left = 100 * STEPS - 4 * STEPS - STEPS // 2
    assert with_it.seconds_left == pytest.approx(left / with_it.steps_per_second)


def test_what_is_older_than_five_minutes_does_not_count(store: Store) -> None:
    league = take_turns(store, turns=6, until=time.time() - 400)
    speed = speed_of(recent(store, league), [])
    assert (speed.steps_per_second, speed.seconds_left) == (0, None)
    assert speed.measured_seconds == pytest.approx(300, abs=8)


def test_a_pause_is_no_time_in_which_nothing_was_made(store: Store) -> None:
    league = take_turns(store, turns=4, until=time.time())
    run_since(store, league, time.time() - 2 * TURN)
    speed = speed_of(recent(store, league), [])
    assert speed.measured_seconds == pytest.approx(2 * TURN, abs=8)
    assert speed.steps_per_second == pytest.approx(STEPS / TURN, rel=0.3)


def test_time_that_the_installation_was_down_is_no_time_in_which_nothing_was_made(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    league = take_turns(store, turns=2, until=time.time())
    run_since(store, league, time.time() - 3000)
    assert speed_of(recent(store, league), []).steps_per_second < STEPS / TURN / 10
    came_up(monkeypatch, time.time() - 2 * TURN)
    speed = speed_of(recent(store, league), [])
    assert speed.measured_seconds == pytest.approx(2 * TURN, abs=8)
    assert speed.steps_per_second == pytest.approx(STEPS / TURN, rel=0.3)


def test_the_database_knows_since_when_it_is_up(store: Store) -> None:
    with store.sessions() as session:
        assert up_since(session) < now(session)


def test_a_trial_that_does_not_run_has_no_speed(store: Store) -> None:
    league = take_turns(store, turns=2, until=time.time())
    with store.sessions.begin() as session:
        session.get_one(Trial, league.trial).status = TrialStatus.PAUSED
    with store.sessions() as session:
        assert recent_training(session, league.trial, datetime.now(UTC)) is None
