"""Whether a long trial stays small: the longest workflow history, and memory after 50 and after 300 generations.

python -m benchmarks.long_run --json
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import defaultdict
from contextlib import suppress
from typing import Any

import psutil
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from benchmarks.stacks.local_stack import LocalStack, local_stack
from lanista.stack.control import reach
from lanista.stack.processes.leftovers import leftovers

MOST_EVENTS = 2000
MOST_GROWTH = 1.2
"""Memory is flat if no process holds more than this factor of its first measurement."""
STEPS = 512
SPEC: dict[str, Any] = {
    "game": {"id": "rock_paper_scissors"},
    "model": {"id": "mlp", "hidden": [16]},
    "algorithm": {"id": "ppo", "rollout_steps": 8},
    "seed": 5,
    "league": {
        "preset": "pfsp",
        "players": [{"name": "main", "role": "main"}, {"name": "random", "role": "bot", "bot": "random"}],
        # a snapshot, and with it a gate, every ten generations
        "snapshot": {"min_steps": 10 * STEPS, "win_rate": 1.0, "max_steps": 10 * STEPS},
        "champion_gate": {"max_pairs": 64},
    },
    "generation": {"steps": STEPS, "tables": 64},
    "evaluation": {"every_generations": 10, "games": 20},
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.long_run", description=__doc__)
    parser.add_argument("--generations", type=int, default=300)
    parser.add_argument("--first-look", type=int, default=50, help="generations after which memory counts as warm")
    parser.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    given = parser.parse_args()
    with local_stack() as stack:
        result = measure(stack, given.first_look, given.generations)
    print(json.dumps(result) if given.json else "\n".join(f"{key}: {value}" for key, value in result.items()))
    sys.exit(0 if result["bounded"] and result["flat"] else 1)


def measure(stack: LocalStack, first: int, last: int) -> dict[str, Any]:
    """Run the trial to its last generation; measures memory twice, and histories at the end."""
    trial = stack.start_trial(SPEC)
    began = time.monotonic()
    wait_for(stack, trial, first)
    before = megabytes(stack)
    say(f"{first} generations after {time.monotonic() - began:.0f} s: {before}")
    wait_for(stack, trial, last)
    seconds, after = time.monotonic() - began, megabytes(stack)
    say(f"{last} generations after {seconds:.0f} s: {after}")
    stack.call("POST", f"/trials/{trial}/stop", {"mode": "drain"})
    while stack.rows("SELECT status FROM trials WHERE id = %s", trial)[0][0] != "stopped":
        time.sleep(0.5)
    longest = asyncio.run(longest_histories(reach(stack.home)["LANISTA_TEMPORAL_ADDRESS"]))
    growth = {name: round(after[name] / held, 3) for name, held in before.items() if name in after}
    return {
        "generations": generations(stack, trial),
        "seconds": round(seconds, 1),
        "longest_history": max(longest.values()),
        "longest_by_kind": longest,
        "megabytes": {str(first): before, str(last): after},
        "growth": growth,
        "bounded": max(longest.values()) < MOST_EVENTS,
        "flat": all(times <= MOST_GROWTH for times in growth.values()),
    }


def wait_for(stack: LocalStack, trial: str, number: int) -> None:
    while generations(stack, trial) < number:
        time.sleep(0.25)


def generations(stack: LocalStack, trial: str) -> int:
    return int(stack.rows("SELECT count(*) FROM generations WHERE trial_id = %s", trial)[0][0])


def megabytes(stack: LocalStack) -> dict[str, float]:
    """Resident memory of both workers and of the largest Ray actor of each class."""
    state = stack.home.read_state()
    assert state is not None, "the stack is up"
    held: dict[str, float] = {}
    for worker in ("store-worker", "train-worker"):
        pid = state.children[worker].pid
        assert pid is not None, f"the {worker} runs"
        held[worker] = _resident(psutil.Process(pid))
    for process in leftovers(stack.home):
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            title = (process.cmdline() or [""])[0]
            for actor in ("FusedActor", "MatchHost"):
                if title.startswith("ray::") and actor in title:
                    held[actor] = max(held.get(actor, 0.0), _resident(process))
    return held


def _resident(process: psutil.Process) -> float:
    return round(process.memory_info().rss / 1e6, 1)


async def longest_histories(address: str) -> dict[str, int]:
    """Events of the longest run of each kind of workflow."""
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    longest: dict[str, int] = defaultdict(int)
    async for run in client.list_workflows():
        # a running workflow's history length is only in its description
        described = await client.get_workflow_handle(run.id, run_id=run.run_id).describe()
        longest[run.workflow_type] = max(longest[run.workflow_type], described.history_length)
    return dict(longest)


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
