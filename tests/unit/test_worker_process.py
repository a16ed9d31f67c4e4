"""A worker process tells its supervisor, or a probe, that it serves and that it still works."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from orchestrator import worker_process
from orchestrator.worker_process import READY_FILE, retract_ready, run_workers


class FakeWorker:
    """Runs until it is shut down."""

    task_queue = "train"

    def __init__(self) -> None:
        self.is_running = False
        self._ended = asyncio.Event()

    async def run(self) -> None:
        self.is_running = True
        await self._ended.wait()

    async def shutdown(self) -> None:
        self._ended.set()


@pytest.fixture
def ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "ready"
    monkeypatch.setenv(READY_FILE, str(path))
    return path


def test_what_an_earlier_process_announced_is_taken_back(ready: Path) -> None:
    retract_ready()
    assert not ready.exists(), "nothing was announced"
    ready.write_text("17")
    retract_ready()
    assert ready.read_text() == ""


async def test_a_worker_touches_its_file_while_it_works(ready: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "TOUCH_SECONDS", 0.01)
    workers: Any = [FakeWorker()]
    serving = asyncio.create_task(run_workers(workers, role="train-worker"))
    while not ready.exists():
        await asyncio.sleep(0.01)
    old = time.time() - 3600
    for _ in range(2):
        os.utime(ready, (old, old))
        while ready.stat().st_mtime < old + 1800:
            await asyncio.sleep(0.01)
    assert ready.read_text() == str(os.getpid())
    ready.unlink()  # no reason to end
    await asyncio.sleep(0.05)
    assert not serving.done() and not ready.exists()
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(serving, 10)
