"""The train queue's slots on a real Temporal server: more activities run at once as soon as the limit grows."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.worker import Worker

from orchestrator.contracts import Queue
from tests.integration.temporal import local_temporal
from workers.worker import _worker

RELEASED = threading.Event()
RUNNING: list[int] = []
PATIENCE = 60.0


@activity.defn
def hold(number: int) -> None:
    RUNNING.append(number)
    RELEASED.wait(PATIENCE)


@workflow.defn(sandboxed=False)
class Three:
    @workflow.run
    async def run(self) -> None:
        limit = timedelta(minutes=10)
        await asyncio.gather(
            *(
                workflow.execute_activity(hold, number, task_queue=Queue.TRAIN, start_to_close_timeout=limit)
                for number in range(3)
            )
        )


async def running(count: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while len(RUNNING) < count:
            await asyncio.sleep(0.05)


async def test_a_worker_takes_more_activities_when_the_cluster_grows() -> None:
    cpus = [1]
    env = await local_temporal()
    try:
        with ThreadPoolExecutor(4) as threads:
            train = _worker(env.client, Queue.TRAIN, lambda: cpus[0], [hold], threads, None)
            async with train, Worker(env.client, task_queue="flow", workflows=[Three]):
                three = await env.client.start_workflow(Three.run, id="three", task_queue="flow")
                try:
                    await running(1)
                    await asyncio.sleep(1)
                    assert len(RUNNING) == 1, "one slot"
                    cpus[0] = 2
                    await running(2)
                finally:
                    RELEASED.set()  # or a failure would wait for the activities
                await three.result()
        assert sorted(RUNNING) == [0, 1, 2]
    finally:
        await env.shutdown()
