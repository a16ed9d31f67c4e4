"""An activity whose worker was killed is tried again as soon as the part's next process starts, not after its limit."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from orchestrator.left_activities import ActivityJournal, journal_folder
from orchestrator.worker_process import READY_FILE
from tests.integration.workflows.conftest import PATIENCE, eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")
QUEUE = "left-behind"
ATTEMPTS: list[int] = []


@activity.defn
async def hang_once() -> int:
    attempt = activity.info().attempt
    ATTEMPTS.append(attempt)
    if attempt == 1:
        await asyncio.sleep(3600)  # its worker is killed
    return attempt


@workflow.defn
class LeftBehindWorkflow:
    @workflow.run
    async def run(self) -> int:
        return await workflow.execute_activity(
            hang_once,
            start_to_close_timeout=timedelta(hours=2),
            retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=20)),
        )


def dead_process() -> str:
    """The name of a process that was killed."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]) as process:
        name = f"{process.pid}-{psutil.Process(process.pid).create_time():.2f}"
        process.kill()
    return name


async def test_the_next_process_fails_what_a_killed_one_left(temporal: Client, tmp_path: Path) -> None:
    journal = ActivityJournal(tmp_path)
    options = {"workflows": [LeftBehindWorkflow], "activities": [hang_once], "interceptors": [journal]}
    worker = Worker(temporal, task_queue=QUEUE, workflow_runner=UnsandboxedWorkflowRunner(), **options)
    async with worker:
        handle = await temporal.start_workflow(LeftBehindWorkflow.run, id="left-behind", task_queue=QUEUE)
        await eventually(lambda: ATTEMPTS == [1])
        (own,) = tmp_path.iterdir()
        (kept,) = own.iterdir()
        assert await journal.fail_left_behind(temporal) == 0, "its own process lives"
        left = tmp_path / dead_process()
        left.mkdir()
        (left / "0").write_bytes(kept.read_bytes())
        (left / "1").write_bytes(b"")
        assert await journal.fail_left_behind(temporal) == 1
        assert await asyncio.wait_for(handle.result(), PATIENCE) == 2
        assert not left.exists()
        left.mkdir()
        (left / "0").write_bytes(kept.read_bytes())
        assert await journal.fail_left_behind(temporal) == 0, "the attempt is over: nothing is tried a third time"
    assert ATTEMPTS == [1, 2]


async def test_a_full_disk_only_costs_the_faster_retry(tmp_path: Path) -> None:
    journal = ActivityJournal(tmp_path)
    (own,) = tmp_path.iterdir()
    own.rmdir()
    with journal.noted(b"token"):
        assert list(tmp_path.iterdir()) == []


async def test_a_part_without_a_supervisor_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(READY_FILE, raising=False)
    assert journal_folder() is None
    monkeypatch.setenv(READY_FILE, "/home/run/store-worker.ready")
    assert journal_folder() == Path("/home/run/store-worker.activities")
