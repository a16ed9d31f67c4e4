"""Champions of connect four: a trial of each preset for a fixed time, through a stack."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.peers.rates import say
from benchmarks.stacks.local_stack import LocalStack
from league.types import CheckpointRef

PRESETS = ("self_play", "fictitious", "pfsp", "alphastar", "openai_five", "psro")
ALPHAZERO = "alphazero"
_CHAMPION = (
    "SELECT v.uri, v.sha256, v.size, v.number, v.steps FROM aliases a JOIN model_versions v ON v.id = a.version_id"
    " WHERE v.trial_id = %s AND v.uri IS NOT NULL"
)
_NEWEST = (
    "SELECT v.uri, v.sha256, v.size, v.number, v.steps FROM model_versions v JOIN players p ON p.id = v.player_id"
    " WHERE v.trial_id = %s AND p.name = 'main' AND v.uri IS NOT NULL ORDER BY v.number DESC LIMIT 1"
)
_STEPS = "SELECT coalesce(sum(steps), 0) FROM generations WHERE trial_id = %s"


def spec_of(by: str, minutes: float, seed: int) -> dict[str, Any]:
    """The trial: a preset with PPO and its defaults, or one main that plays itself by `alphazero`."""
    search = by == ALPHAZERO
    learners = ["main"] if by != "alphastar" else ["main", "main_exploiter", "league_exploiter"]
    # three players share two cores: each crew has one process
    generation: dict[str, Any] = {"steps": 2_000_000, "rollout_actors": 2 if len(learners) == 1 else 1}
    if search:
        generation = {"steps": 16_384, "tables": 256, "rollout_actors": 2, "autocast": "bf16"}
    return {
        "game": {"id": "connect_four"},
        "seed": seed,
        "model": {"id": "convres", "channels": 64, "blocks": 2} if search else {"id": "mlp"},
        "algorithm": {"id": "alphazero", "simulations": 32} if search else {"id": "ppo"},
        "league": {
            "preset": "self_play" if search else by,
            "players": [{"name": role.replace("_", "-"), "role": role} for role in learners],
            **({"champion_gate": None} if search else {}),
        },
        "generation": generation,
        "budget": {"wall_clock": f"{round(minutes * 60)}s"},
    }


def train(stack: LocalStack, by: str, minutes: float, seed: int) -> tuple[CheckpointRef, dict[str, Any]]:
    """The champion after the time, or where no gate has chosen one the main's newest version; and what it took."""
    trial, deadline = (
        stack.start_trial(spec_of(by, minutes, seed), f"{by}-{seed}"),
        time.monotonic() + minutes * 60 + 900,
    )
    while (found := stack.call("GET", f"/trials/{trial}"))["status"] not in ("completed", "failed", "stopped"):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{by}, seed {seed}: the trial is {found['status']} long after its time")
        time.sleep(2.0)
    if found["status"] != "completed":
        raise RuntimeError(f"{by}, seed {seed}: the trial ended as {found['status']}: {found.get('status_reason')}")
    champion = stack.rows(_CHAMPION, trial)
    uri, sha256, size, number, steps = (champion or stack.rows(_NEWEST, trial))[0]
    total = int(stack.rows(_STEPS, trial)[0][0])
    chosen = "champion" if champion else "newest"
    say(f"  {total:,} steps of all players; the {chosen} version, number {number}, after {steps:,}")
    return CheckpointRef(uri=uri, sha256=sha256, size=size), {"steps": total, "judged": chosen, "judged_steps": steps}
