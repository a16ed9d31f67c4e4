"""Batches of games as an activity on real Ray actors: alive while it waits, and stopped only by a standstill."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import ray
from temporalio.testing import ActivityEnvironment

from orchestrator.catalog import Component
from orchestrator.contracts.play import Contender, PlayRequest
from workers.activities import playing
from workers.activities.playing import PlayActivities
from workers.activities.watch import ProgressWatch

pytestmark = pytest.mark.usefixtures("local_ray")

TIC_TAC_TOE = Component(id="tic_tac_toe")
LONG = Component(id="tests.integration.crews.slow:LongGame", options={"seconds": 0.5})


def request(game: Component, **settings: Any) -> PlayRequest:
    contenders = [Contender(version=name, player=name, bot="random") for name in ("a", "b")]
    return PlayRequest(trial="t", occasion="test", game=game, contenders=contenders, pairs=1, seed=1, **settings)


@pytest.fixture
def activities(tmp_path: Path) -> PlayActivities:
    return PlayActivities(str(tmp_path))


@ray.remote
class Deaf:
    """An idle actor that never answers."""

    def progress(self) -> None:
        time.sleep(3600)


def test_actors_that_died_or_hang_are_passed_over_with_a_beating_heart(
    activities: PlayActivities, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.activities.watch.HEARTBEAT_SECONDS", 0.1)
    environment = ActivityEnvironment()
    beats: list[Any] = []
    environment.on_heartbeat = lambda *details: beats.append(details)
    environment.run(activities.play_games, request(TIC_TAC_TOE))
    (warm,) = activities._idle
    dead, deaf = Deaf.remote(), Deaf.remote()
    ray.kill(dead)
    activities._idle += [dead, deaf]
    beats.clear()
    outcome = environment.run(activities.play_games, request(TIC_TAC_TOE))
    assert len(outcome.games) == 2 and activities._idle == [warm]
    assert len(beats) >= 3, "the heart beat while the deaf one was waited for"


def test_waiting_for_an_actor_holds_up_nobody_else(activities: PlayActivities, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[bool] = []

    def lives(actor: Any, watch: ProgressWatch) -> bool:
        held.append(activities._lock.locked())
        return False

    monkeypatch.setattr(playing, "_lives", lives)
    activities._idle.append(Deaf.remote())
    ActivityEnvironment().run(activities.play_games, request(TIC_TAC_TOE))
    assert held == [False]


def test_a_long_game_is_no_standstill(activities: PlayActivities, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[tuple[int, int]] = []
    told = ProgressWatch.moved

    def moves(self: ProgressWatch, done: int, *, beyond: int = 0, **details: Any) -> None:
        moved.append((done, beyond))
        told(self, done, beyond=beyond, **details)

    monkeypatch.setattr(ProgressWatch, "moved", moves)
    monkeypatch.setattr(playing, "POLL_SECONDS", 0.02)
    ActivityEnvironment().run(activities.play_games, request(LONG))
    before_the_first_end = {beyond for done, beyond in moved if done == 0}
    assert len(before_the_first_end) >= 2, "rounds of moves are told while no game has ended"
