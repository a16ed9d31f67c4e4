"""When work counts as stalled."""

from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from league.types import CheckpointRef
from orchestrator.contracts.generations import PartialGeneration
from workers.activities import progress_watch
from workers.activities.progress_watch import ProgressWatch


def test_decisions_of_outside_games_are_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(progress_watch, "time", SimpleNamespace(monotonic=lambda: now))
    games: Any = SimpleNamespace(problem=None, given_up=False, rows=0)

    def work() -> None:
        nonlocal now
        watch = ProgressWatch(10, "steps", games)
        for _ in range(5):
            now += 8
            games.rows += 1
            assert not watch.should_stop()
        now += 8
        assert not watch.should_stop()
        now += 8
        assert watch.should_stop()
        assert "no progress for 10 s" in str(watch.stop_error())

    ActivityEnvironment().run(work)


def test_an_error_says_how_much_work_is_lost_with_it() -> None:
    watch = ProgressWatch(60, "steps")
    error = ApplicationError("no space left", type="store_full", non_retryable=True)
    assert watch.with_steps(error).details == ({"steps": 0},), "nothing was done yet"
    watch.record(4_100)
    told = watch.with_steps(error)
    assert (told.message, told.type, told.non_retryable) == ("no space left", "store_full", True)
    assert told.details == ({"steps": 4_100},)


def test_heartbeats_and_errors_name_the_newest_mid_generation_checkpoint() -> None:
    ref = CheckpointRef(uri="partial/aa/aaaa", sha256="aaaa", size=7)
    partial = PartialGeneration(checkpoint=ref, outcome=ref, updates=3, steps=3_000)
    environment, beats = ActivityEnvironment(), list[Any]()
    environment.on_heartbeat = beats.append

    def work() -> None:
        watch = ProgressWatch(60, "steps")
        watch.record(3_100)
        watch.should_stop()
        watch.stored(partial)
        watch.should_stop()
        assert watch.with_steps(ApplicationError("lost")).details == ({"steps": 3_100, "partial": asdict(partial)},)

    environment.run(work)
    assert beats == [{"steps": 3_100}, {"steps": 3_100, "partial": asdict(partial)}]
