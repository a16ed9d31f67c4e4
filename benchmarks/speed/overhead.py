"""The overhead of durability: steps/s through Temporal, Postgres and Ray against the same crew in a plain loop."""

from __future__ import annotations

import argparse
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from benchmarks.stacks.local_stack import local_stack

SPEC: dict[str, Any] = {
    "game": {"id": "connect_four"},
    "model": {"id": "mlp", "hidden": [64, 64]},
    "seed": 11,
    "league": {
        "preset": "self_play",
        "players": [{"name": "main", "role": "main"}],
        # no snapshots, so that both sides play the same games: the learner against itself
        "snapshot": {"min_steps": 10**12, "win_rate": 0.7, "max_steps": 10**12},
    },
    "generation": {"rollout_actors": 2, "tables": 1024},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5, help="interleaved pairs of measurements")
    parser.add_argument("--generations", type=int, default=2, help="generations measured on each side of a pair")
    parser.add_argument("--seconds", type=float, default=20.0, help="length of a generation")
    parser.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    parser.add_argument("--loop", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.loop:
        print(json.dumps(plain_loop(arguments.loop, arguments.generations)))
        return
    steps = steps_for(arguments.seconds)
    say(f"a generation is {steps:,} steps")
    stack, loop = [], []
    for pair in range(arguments.pairs):
        loop.append(loop_rate(steps, arguments.generations))
        stack.append(stack_rate(steps, arguments.generations))
        say(f"pair {pair + 1}: stack {stack[-1]:,.0f}, loop {loop[-1]:,.0f}, ratio {stack[-1] / loop[-1]:.3f}")
    result = {
        "stack": round(statistics.median(stack)),
        "loop": round(statistics.median(loop)),
        "ratio": round(statistics.median(s / p for s, p in zip(stack, loop, strict=True)), 3),
    }
    print(json.dumps(result) if arguments.json else result)


def steps_for(seconds: float) -> int:
    """How many steps the plain loop does in this many seconds, rounded to 100,000s."""
    return max(1, round(loop_rate(1_000_000, 1) * seconds / 100_000)) * 100_000


def loop_rate(steps: int, generations: int) -> float:
    """The plain loop in a process of its own, while no stack runs."""
    command = [sys.executable, "-m", "benchmarks.overhead", "--loop", str(steps), "--generations", str(generations)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("LANISTA_", "RAY_"))}
    done = subprocess.run(command, env=clean, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def plain_loop(steps: int, generations: int) -> float:
    """Steps/s of run_generation called in a row, after a first one that warms the crew."""
    os.environ["RAY_AUTH_MODE"] = "disabled"  # a cluster of this process, which ends with it
    import ray

    from orchestrator.catalog import Component
    from orchestrator.contracts.generations import GenerationTask
    from orchestrator.spec.reading.checking import check_spec
    from orchestrator.storage.artifacts import ArtifactStore
    from workers.crews.generation import run_generation
    from workers.crews.pool import CrewPool

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    spec = check_spec({**SPEC, "generation": {**SPEC["generation"], "steps": steps}})
    with tempfile.TemporaryDirectory() as folder:
        store = ArtifactStore(folder)
        crews = CrewPool(store)
        checkpoint, done, began = None, 0, time.monotonic()
        for generation in range(generations + 1):
            task = GenerationTask(
                game=Component(id="connect_four"),
                model=spec.model.component,
                algorithm=spec.algorithm.component,
                steps=steps if generation else steps // 10,
                seed=generation,
                checkpoint=checkpoint,
                tables=spec.generation.tables,
                rollout_actors=spec.generation.rollout_actors,
            )
            result = run_generation(task, store=store, progress=lambda _: None, should_stop=lambda: False, crews=crews)
            checkpoint = result.checkpoint
            if generation == 0:
                began = time.monotonic()
            else:
                done += result.steps
        rate = done / (time.monotonic() - began)
        crews.close()
    ray.shutdown()
    return rate


def stack_rate(steps: int, generations: int) -> float:
    """Committed steps a second of one player on the whole stack, after a first generation that warms it."""
    query = (
        "SELECT number, steps, extract(epoch FROM recorded_at)::float8 FROM generations "
        "WHERE trial_id = %s ORDER BY number"
    )
    with local_stack() as stack:
        trial = stack.start_trial({**SPEC, "generation": {**SPEC["generation"], "steps": steps}})
        while len(rows := stack.rows(query, trial)) < generations + 1:
            time.sleep(1)
        measured = rows[1 : generations + 1]
        return float(sum(row[1] for row in measured) / (measured[-1][2] - rows[0][2]))


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
