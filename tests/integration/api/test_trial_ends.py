"""A trial says how long it has run without its pauses, and which limits end it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import insert, update

from api.schemas.trials import TrialSummary
from api.store.tables import Event, Trial
from tests.integration.api.server import Served
from tests.integration.store.league import League

BEGAN = datetime(2030, 1, 1, 12, tzinfo=UTC)
LIMITS = {"wall_clock": "50m", "steps": 4_000, "until": {"opponent": "random", "win_rate": 0.9}}


def moved(api: Served, trial: str, *moves: tuple[float, str, str]) -> None:
    """Changes of status, each so many minutes after the trial began to run."""
    with api.sessions.begin() as session:
        for minutes, before, after in moves:
            at = BEGAN + timedelta(minutes=minutes)
            payload = {"from": before, "to": after}
            session.execute(insert(Event).values(trial_id=trial, type="trial.status", payload=payload, created_at=at))
            ended = at if after == "stopped" else None
            session.execute(update(Trial).where(Trial.id == trial).values(status=after, finished_at=ended))


@pytest.fixture
def trial(api: Served) -> str:
    league = League.found(api.sessions)
    with api.sessions.begin() as session:
        found = session.get_one(Trial, league.trial_id)
        found.spec = {**found.spec, "budget": LIMITS}
    return league.trial_id


def shown(viewer: httpx.Client, trial: str) -> Any:
    return viewer.get(f"/api/v1/trials/{trial}").json()


def test_limits_are_numbers(viewer: httpx.Client, trial: str) -> None:
    found = shown(viewer, trial)
    assert (found["budget_seconds"], found["budget_steps"]) == (3_000, 4_000)
    assert found["budget_until"] == {"opponent": "random", "win_rate": 0.9}
    assert (found["seconds_run"], found["running_since"]) == (0, None), "it has not begun"


def test_a_pause_is_no_running_time(api: Served, viewer: httpx.Client, trial: str) -> None:
    moved(api, trial, (0, "pending", "running"), (4, "running", "pausing"), (5, "pausing", "paused"))
    assert (shown(viewer, trial)["seconds_run"], shown(viewer, trial)["running_since"]) == (300, None)
    moved(api, trial, (60, "paused", "running"), (61, "running", "running"))
    found = TrialSummary.model_validate(shown(viewer, trial))
    assert (found.seconds_run, found.running_since) == (300, BEGAN + timedelta(minutes=60))
    assert found.time_limit_at == BEGAN + timedelta(minutes=60 + 45)
    moved(api, trial, (70, "running", "pausing"), (71, "pausing", "running"), (90, "running", "stopped"))
    assert shown(viewer, trial)["seconds_run"] == 300 + 30 * 60, "pausing is no pause yet, and the end stops it"


def test_the_list_has_the_same(api: Served, viewer: httpx.Client, trial: str) -> None:
    moved(api, trial, (0, "pending", "running"))
    listed = viewer.get("/api/v1/trials", params={"limit": 500}).json()["items"]
    (row,) = (each for each in listed if each["id"] == trial)
    alone = shown(viewer, trial)
    names = ("budget_seconds", "budget_until", "seconds_run", "running_since")
    assert [row[name] for name in names] == [alone[name] for name in names]
    assert row["running_since"] == "2030-01-01T12:00:00Z"
