"""When work counts as stalled."""

from types import SimpleNamespace
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

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
