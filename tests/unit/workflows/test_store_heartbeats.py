"""Store activities tell Temporal that their worker lives, so that its death is noticed in seconds."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio import workflow
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from orchestrator import store_heartbeats
from orchestrator.contracts import generations, trials
from orchestrator.contracts.queues import ALIVE_WITHIN, ActivityStub
from orchestrator.store_heartbeats import HeartbeatInterceptor


class Transaction(ActivityInboundInterceptor):
    """An activity that ends after a heartbeat, or after a while without one."""

    def __init__(self) -> None:
        self.beat = asyncio.Event()

    async def execute_activity(self, input: ExecuteActivityInput) -> str:
        try:
            await asyncio.wait_for(self.beat.wait(), 0.3 if not input.args else 60)
        except TimeoutError:
            return "silent"
        return "alive"


@pytest.mark.parametrize(
    ("limit", "expected"), [(ALIVE_WITHIN, "alive"), (timedelta(minutes=5), "silent"), (None, "silent")]
)
async def test_only_short_transactions_get_heartbeats(
    limit: timedelta | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_heartbeats, "EVERY_SECONDS", 0.01)
    inner = Transaction()
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, heartbeat_timeout=limit)
    environment.on_heartbeat = lambda *details: inner.beat.set()

    async def execute() -> Any:
        waits = (True,) if expected == "alive" else ()
        given = ExecuteActivityInput(fn=execute, args=waits, executor=None, headers={})
        return await HeartbeatInterceptor().intercept_activity(inner).execute_activity(given)

    assert await environment.run(execute) == expected


@pytest.mark.parametrize(
    ("stub", "expected"),
    [
        (generations.record_generation, ALIVE_WITHIN),
        (generations.plan_generation, ALIVE_WITHIN),
        (trials.note_event, ALIVE_WITHIN),
        (generations.roll_back, timedelta(minutes=5)),
        (generations.train_generation, timedelta(seconds=10)),
        (generations.chart_generation, None),
    ],
)
def test_which_silence_a_call_allows(
    stub: ActivityStub[Any, Any], expected: timedelta | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[timedelta | None] = []
    monkeypatch.setattr(workflow, "start_activity", lambda *_, **options: called.append(options["heartbeat_timeout"]))
    replace(stub, urgency=None, summary=None).start(None)
    assert called == [expected]


def test_the_rules_load_without_the_statistics_that_are_rarely_needed() -> None:
    code = "import sys, league.populations.selection; sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
