"""The trials in slime volleyball, trained through a stack, and the version that is judged."""

from __future__ import annotations

import os
import time
from typing import Any

from benchmarks.peers.rates import say
from benchmarks.stacks.local_stack import LocalStack
from league.types import CheckpointRef

LEAGUE = "league"
BY = (LEAGUE, "self_play", "pfsp")
"""The league is trained for a time; the others for as many steps as the league's three players had together."""
_EXPLOITERS = (
    {"name": "main-exploiter", "role": "main_exploiter"},
    {"name": "league-exploiter", "role": "league_exploiter"},
)
MAIN_STEPS_A_CORE = 35_000_000
"""About what the league's main trains in half an hour on each core: its learning rate falls over these steps."""
_NEWEST = (
    "SELECT v.uri, v.sha256, v.size, v.number, v.steps FROM model_versions v JOIN players p ON p.id = v.player_id"
    " WHERE v.trial_id = %s AND p.name = 'main' AND v.uri IS NOT NULL ORDER BY v.number DESC LIMIT 1"
)
_STEPS = "SELECT coalesce(sum(steps), 0) FROM generations WHERE trial_id = %s"


def spec_of(by: str, seed: int, budget: dict[str, Any]) -> dict[str, Any]:
    """A trial file. Network, algorithm and generations are the same for all; no player meets the package's policy.

    Games are long, so few tables play many steps each: a generation ends with playing its last games out. The settings
    were chosen by self-play in one process with seed 1, on 100 episodes of greedy play: it scored 0.03 to 0.64 between
    16 and 41 million steps, and -0.03 to -0.76 between 9 and 21 million with three times the learning rate, gamma 0.99
    and half the minibatch. A league of 30 minutes with such settings scored -0.47 (a row of the results). The main's
    learning rate falls, because its last version is the one that is judged; exploiters are reset, and keep theirs.
    """
    algorithm = {
        "id": "ppo",
        "learning_rate": 7e-4,
        "gamma": 0.995,
        "gae_lambda": 0.95,
        "entropy": 0.002,
        "epochs": 4,
        "minibatch": 2048,
        "rollout_steps": 128,
    }
    steps = budget.get("steps", MAIN_STEPS_A_CORE * len(os.sched_getaffinity(0)))
    falling = {"learning_rate_steps": steps, "learning_rate_left": 0.1}
    main = {"name": "main", "role": "main", "algorithm": {**algorithm, **falling}}
    return {
        "game": {"id": "slime_volley"},
        "seed": seed,
        "model": {"id": "mlp", "hidden": [64, 64]},
        "algorithm": algorithm,
        "league": {
            "preset": "alphastar" if by == LEAGUE else by,
            "players": [main, *_EXPLOITERS] if by == LEAGUE else [main],
            "snapshot": {"min_steps": 4_000_000, "win_rate": 0.7, "max_steps": 8_000_000},
            "champion_gate": None,
        },
        "generation": {"steps": 2_000_000, "tables": 128, "rollout_actors": 1, "openings": {"share": 0.0}},
        "evaluation": {"every_generations": 20, "games": 100},
        "budget": budget,
    }


def train(
    stack: LocalStack, by: str, seed: int, budget: dict[str, Any], limit: float
) -> tuple[CheckpointRef, dict[str, Any]]:
    """Train until the budget is used up; the main's newest version, and what it took. `limit` is in seconds."""
    trial, began = stack.start_trial(spec_of(by, seed, budget), f"{by}-{seed}"), time.monotonic()
    while (found := stack.call("GET", f"/trials/{trial}"))["status"] not in ("completed", "failed", "stopped"):
        if time.monotonic() - began > limit:
            raise TimeoutError(f"{by}, seed {seed}: the trial is {found['status']} after {limit:.0f} s")
        time.sleep(2.0)
    if found["status"] != "completed":
        raise RuntimeError(f"{by}, seed {seed}: the trial ended as {found['status']}: {found.get('status_reason')}")
    uri, sha256, size, number, steps = stack.rows(_NEWEST, trial)[0]
    total = int(stack.rows(_STEPS, trial)[0][0])
    minutes = round((time.monotonic() - began) / 60, 2)
    say(f"  {total:,} steps of all players in {minutes} minutes; version {number} of the main after {steps:,}")
    row = {"steps": total, "main_steps": steps, "versions": number, "minutes": minutes}
    return CheckpointRef(uri=uri, sha256=sha256, size=size), row
