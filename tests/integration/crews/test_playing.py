"""Batches of games as an activity on real Ray actors: alive while it waits, and stopped only by a standstill."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import ray
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.testing import ActivityEnvironment

from orchestrator.catalog import Component
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.play import Contender, PlayedGame, PlayOutcome, PlayRequest
from orchestrator.storage.artifacts import ArtifactStore, ArtifactStoreFull
from orchestrator.storage.played_games import pack_games
from workers.activities import playing
from workers.activities.playing import PlayActivities
from workers.activities.progress_watch import ProgressWatch

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
    monkeypatch.setattr("workers.activities.progress_watch.HEARTBEAT_SECONDS", 0.1)
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

    def is_alive(actor: Any, watch: ProgressWatch) -> bool:
        held.append(activities._lock.locked())
        return False

    monkeypatch.setattr(playing, "_is_alive", is_alive)
    activities._idle.append(Deaf.remote())
    ActivityEnvironment().run(activities.play_games, request(TIC_TAC_TOE))
    assert held == [False]


def test_a_long_game_is_no_standstill(activities: PlayActivities, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[tuple[int, int]] = []
    told = ProgressWatch.record

    def moves(self: ProgressWatch, done: int, *, extra_progress: int = 0, **details: Any) -> None:
        moved.append((done, extra_progress))
        told(self, done, extra_progress=extra_progress, **details)

    monkeypatch.setattr(ProgressWatch, "record", moves)
    monkeypatch.setattr(playing, "POLL_SECONDS", 0.02)
    ActivityEnvironment().run(activities.play_games, request(LONG))
    before_the_first_end = {extra for done, extra in moved if done == 0}
    assert len(before_the_first_end) >= 2, "rounds of moves are told while no game has ended"


def test_a_game_that_cannot_be_made_holds_up_no_worker(activities: PlayActivities, tmp_path: Path) -> None:
    makers = tmp_path / "makers"
    hanging = Component(id="tests.integration.crews.slow:HangingGame", options={"makers": str(makers)})
    environment = ActivityEnvironment()
    environment.run(activities.play_games, request(TIC_TAC_TOE))
    with pytest.raises(ApplicationError) as failure:
        environment.run(activities.play_games, request(hanging, stall_seconds=5.0))
    assert failure.value.type == Failure.STALLED
    assert str(os.getpid()) not in makers.read_text().split()


class Store:
    """Takes games only once it was asked often enough."""

    def __init__(self, refusals: int) -> None:
        self.refusals, self.asked = refusals, 0
        self.refused = threading.Event()

    def __call__(self, games: Sequence[PlayedGame], artifacts: ArtifactStore) -> PlayOutcome:
        self.asked += 1
        if self.asked <= self.refusals:
            self.refused.set()
            raise ArtifactStoreFull(artifacts.root_url, "No space left on device")
        return pack_games(games, artifacts)


def test_games_that_were_played_wait_for_the_store(activities: PlayActivities, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(refusals=2)
    monkeypatch.setattr(playing, "pack_games", store)
    monkeypatch.setattr("workers.activities.progress_watch.HEARTBEAT_SECONDS", 0.1)
    environment = ActivityEnvironment()
    beats: list[bool] = []
    environment.on_heartbeat = lambda *details: beats.append(store.refused.is_set())
    outcome = environment.run(activities.play_games, request(TIC_TAC_TOE))
    assert len(outcome.games) == 2 and store.asked == 3
    assert sum(beats) >= 3, "the heart beat between the attempts"


def test_a_store_that_never_takes_them_is_told_in_the_end(
    activities: PlayActivities, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(refusals=100)
    monkeypatch.setattr(playing, "pack_games", store)
    monkeypatch.setattr(playing, "STORE_PATIENCE", 0.5)
    with pytest.raises(ApplicationError) as failure:
        ActivityEnvironment().run(activities.play_games, request(TIC_TAC_TOE))
    assert failure.value.type == Failure.STORE_FULL and store.asked == 2


@pytest.mark.parametrize("hangs", [False, True])
def test_nobody_waits_for_the_games_of_a_cancelled_batch(
    activities: PlayActivities, monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    asked, over = threading.Event(), threading.Event()

    def refuse(games: Sequence[PlayedGame], artifacts: ArtifactStore) -> PlayOutcome:
        asked.set()
        if hangs:
            over.wait(60)
        raise ArtifactStoreFull(artifacts.root_url, "No space left on device")

    monkeypatch.setattr(playing, "pack_games", refuse)
    monkeypatch.setattr(playing, "_pause_after", lambda attempt: 60.0)
    environment = ActivityEnvironment()
    canceller = threading.Thread(target=lambda: asked.wait(60) and environment.cancel())
    canceller.start()
    begun = time.monotonic()
    with pytest.raises(CancelledError):
        environment.run(activities.play_games, request(TIC_TAC_TOE))
    assert time.monotonic() - begun < 30
    over.set()
    canceller.join()
