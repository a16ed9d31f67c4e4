"""How the crew scales: steps a second with 1 and 2 processes, and with 1, 4, 16 and 64 opponents in play.

`python -m benchmarks.scaling --json` measures all in one run, in turn, on the crews that Lanista really runs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace

import ray

from benchmarks.peers.lanista import LanistaPeer
from benchmarks.peers.rates import interleave, say
from orchestrator.artifacts import ArtifactStore
from orchestrator.catalog import Component
from workers.checkpoints import Checkpoint, save
from workers.crews.rollout_context import build_game
from workers.crews.task import GenerationTask, TaskOpponent, Topology
from workers.models.contract import build_model

GAME = Component(id="connect_four")
MODEL = Component(id="mlp", options={"hidden": [64, 64]})
PPO = Component(id="ppo", options={"rollout_steps": 32, "minibatch": 8192, "target_kl": 0.0})
PROCESSES = (1, 2)
OPPONENTS = (1, 4, 16, 64)


def base_task() -> GenerationTask:
    return GenerationTask(game=GAME, model=MODEL, algorithm=PPO, steps=1, seed=1, tables=1024, topology=Topology.FUSED)


def pool(store: ArtifactStore, size: int) -> tuple[TaskOpponent, ...]:
    """So many different opponents, all equally likely, no self-play."""
    spec = build_game(GAME, 1).spec
    refs = [
        save(store, Checkpoint(model=MODEL, game=GAME, weights=build_model(MODEL, spec, seed).state_dict()))
        for seed in range(size)
    ]
    return tuple(
        TaskOpponent(player=f"p{number}", version=f"v{number}", probability=1 / size, checkpoint=ref)
        for number, ref in enumerate(refs)
    )


def measure(tasks: Mapping[str, GenerationTask], store: ArtifactStore, rounds: int, seconds: float) -> dict[str, float]:
    """The median rate of each task, measured in turn."""
    peers = {name: LanistaPeer(task, store, epochs=4) for name, task in tasks.items()}
    try:
        return interleave(peers, rounds=rounds, seconds=seconds)
    finally:
        for peer in peers.values():
            peer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args()
    # More than the machine may have: crews take turns, so only one works at a time.
    ray.init(num_cpus=16, include_dashboard=False, log_to_driver=False)
    try:
        with tempfile.TemporaryDirectory() as folder:
            store = ArtifactStore(folder)
            say("processes:")
            processes = measure(
                {str(count): replace(base_task(), rollout_actors=count) for count in PROCESSES},
                store,
                given.rounds,
                given.seconds,
            )
            say("opponents:")
            opponents = measure(
                {str(count): replace(base_task(), opponents=pool(store, count)) for count in OPPONENTS},
                store,
                given.rounds,
                given.seconds,
            )
    finally:
        ray.shutdown()
    result = {
        "processes": {name: round(rate) for name, rate in processes.items()},
        "opponents": {name: round(rate) for name, rate in opponents.items()},
        "speedup": round(processes["2"] / processes["1"], 3),
        "cost_of_64_opponents": round(1 - opponents["64"] / opponents["1"], 3),
    }
    print(json.dumps(result) if given.json else _table(result))


def _table(result: Mapping[str, object]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in result.items())


if __name__ == "__main__":
    main()
