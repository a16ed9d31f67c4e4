"""Kill the API again and again while 1,000 trials are made through it: exactly 1,000 rows, each with one workflow."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import httpx

from benchmarks.stacks.local_stack import LocalStack, local_stack
from lanista.stack.control import reach
from orchestrator.settings import TemporalSettings
from orchestrator.temporal import connect

SPEC = {"game": {"id": "tic_tac_toe"}, "start": "paused"}
AT_ONCE = 50


def make(client: httpx.Client, number: int, attempts: list[int]) -> str:
    """Create one trial; retries with the same idempotency key until the API answers."""
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    body = {"project": "starts", "name": f"trial-{number}", "spec": SPEC}
    while True:
        attempts.append(number)
        try:
            answer = client.post("/api/v1/trials", json=body, headers=headers)
            if answer.status_code == 201:
                return str(answer.json()["id"])
            if answer.status_code < 500:
                raise RuntimeError(f"{answer.status_code}: {answer.text}")
        except httpx.TransportError:
            pass
        time.sleep(0.2)


def kill_api(stack: LocalStack, every: float, done: threading.Event) -> int:
    """SIGKILL the API from time to time; returns how often."""
    kills = 0
    while not done.wait(every):
        state = stack.home.read_state()
        child = state.children["api"] if state else None
        if child is not None and child.pid is not None and child.state == "ready":
            os.kill(child.pid, signal.SIGKILL)
            kills += 1
    return kills


async def workflows(address: str) -> list[str]:
    client = await connect(TemporalSettings(temporal_address=address))
    return [run.id async for run in client.list_workflows("WorkflowType = 'TrialWorkflow'")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between kills")
    given = parser.parse_args()
    with local_stack() as stack:
        token = stack.home.admin_token.read_text().strip()
        attempts: list[int] = []
        done = threading.Event()
        started = time.perf_counter()
        # one client for all: to make one for each request would cost more than the API's whole answer
        client = httpx.Client(
            base_url=f"http://127.0.0.1:{stack.port}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
            limits=httpx.Limits(max_connections=AT_ONCE),
        )
        with client, ThreadPoolExecutor(AT_ONCE + 1) as pool:
            killer = pool.submit(kill_api, stack, given.every, done)
            try:
                made = list(pool.map(lambda number: make(client, number, attempts), range(given.trials)))
            finally:
                done.set()
            kills = killer.result()
        seconds = time.perf_counter() - started
        deadline = time.monotonic() + 120
        unstarted = "SELECT count(*) FROM trials WHERE workflow_started_at IS NULL OR status <> 'paused'"
        while stack.rows(unstarted)[0][0] and time.monotonic() < deadline:
            time.sleep(1)
        rows = {row[0] for row in stack.rows("SELECT id::text FROM trials")}
        left = stack.rows(unstarted)[0][0]
        runs = asyncio.run(workflows(reach(stack.home)["LANISTA_TEMPORAL_ADDRESS"]))
    result = {
        "asked": given.trials,
        "rows": len(rows),
        "answers_that_name_a_row": len(set(made) & rows),
        "workflow_runs": len(runs),
        "trials_with_a_workflow": len({run.removeprefix("trial-") for run in runs} & rows),
        "not_yet_paused": left,
        "kills": kills,
        "requests": len(attempts),
        "seconds": round(seconds, 1),
    }
    print(json.dumps(result))
    exact = {result[key] for key in ("rows", "answers_that_name_a_row", "workflow_runs", "trials_with_a_workflow")}
    if exact != {given.trials} or left:
        sys.exit(1)


if __name__ == "__main__":
    main()
