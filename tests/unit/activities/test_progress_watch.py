"""When work counts as stalled."""

from types import SimpleNamespace
from typing import Any

import pytest
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
