"""The command line says when a trial ends: at its time limit, its budget of steps or a strength, the earlier one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.schemas.progress import TrainingSpeed
from api.schemas.trials import TrialSummary
from lanista.league_view.tables import end_text
from tests.unit.client.fake_api import a_trial


def trial(**changes: Any) -> TrialSummary:
    return TrialSummary.model_validate(a_trial(**changes))


def limited(*, used: float, limit: float, **changes: Any) -> TrialSummary:
    """A trial with a time limit that has run twice, half of what it used each time."""
    since = datetime.now(UTC) - timedelta(seconds=used / 2)
    times = {"budget_seconds": limit, "seconds_run": used / 2, "running_since": since}
    return trial(**{"budget_steps": None, **times, **changes})


def speed(seconds_left: float | None) -> TrainingSpeed:
    return TrainingSpeed(steps_per_second=10, measured_seconds=300, steps_under_way=0, seconds_left=seconds_left)


def test_a_time_limit_is_an_end() -> None:
    one = limited(used=2280, limit=3000)
    assert one.time_limit_at is not None
    at = one.time_limit_at.astimezone().strftime("%H:%M")
    assert end_text(one).startswith("about 0:1") and end_text(one).endswith(f"until {at} (time limit 0:50:00)")
    assert one.seconds_used(datetime.now(UTC)) == pytest.approx(2280, abs=5)


def test_the_earlier_of_two_limits_counts() -> None:
    both = limited(used=2280, limit=3000, budget_steps=4000)
    assert "(time limit" in end_text(both, speed(5000)) and "(budget of steps)" in end_text(both, speed(60))
    assert "(time limit" in end_text(both, speed(None)), "a trial without speed still has its time limit"


def test_a_strength_is_named_beside_them_and_alone() -> None:
    until = {"opponent": "random", "win_rate": 0.9}
    assert end_text(limited(used=0, limit=60, budget_until=until)).endswith(", or at 90 % against random")
    assert end_text(trial(budget_steps=None, budget_until=until)) == "ends at 90 % against random"


def test_a_trial_that_does_not_run_ends_at_no_time() -> None:
    paused = limited(used=100, limit=3000, status="paused", running_since=None)
    assert end_text(paused) == "" and paused.time_limit_at is None
    assert paused.seconds_used(datetime.now(UTC)) == 50, "a pause is no running time"
