"""Memory of an actor with a large pool: 500 versions of 1 MB each, 64 of them in play at a time.

python -m benchmarks.memory --json
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from contextlib import closing

import psutil
import ray
import torch

from benchmarks.peers.rates import say
from league.types import CheckpointRef
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask, PlannedOpponent
from orchestrator.storage.artifacts import ArtifactStore
from workers.checkpoints import Checkpoint, save
from workers.crews.generation import run_generation
from workers.crews.pool import CrewPool
from workers.games.names import make_game
from workers.models.contract import build_model

GAME = Component(id="connect_four")
MODEL = Component(id="mlp", options={"hidden": [456, 456]})
"""Its weights are 1.0 MB."""
_IN_PLAY = 64
_MEGABYTE = 1_000_000


def fill_pool(store: ArtifactStore, versions: int) -> list[CheckpointRef]:
    """Create this many different versions."""
    spec = make_game(GAME.id, 1).spec
    model = build_model(MODEL, spec)
    generator = torch.Generator().manual_seed(7)
    refs = []
    for _ in range(versions):
        weights = {
            name: torch.empty_like(tensor).normal_(0.0, 0.02, generator=generator)
            for name, tensor in model.state_dict().items()
        }
        refs.append(save(store, Checkpoint(model=MODEL, game=GAME, weights=weights)))
    return refs


def actor_megabytes() -> float:
    """The resident memory of this driver's rollout actor."""
    workers = [p for p in psutil.Process().children(recursive=True) if "FusedActor" in " ".join(p.cmdline())]
    if len(workers) != 1:
        raise RuntimeError(f"one rollout actor was expected, {len(workers)} are running")
    return float(workers[0].memory_info().rss) / _MEGABYTE


def task(opponents: Sequence[CheckpointRef], seed: int) -> GenerationTask:
    """A short generation, half of it live self-play, the rest against these opponents."""
    share = 0.5 / len(opponents)
    others = [
        PlannedOpponent(player=ref.sha256[:8], version=ref.sha256, probability=share, checkpoint=ref)
        for ref in opponents
    ]
    live = PlannedOpponent(player="live", version="live", probability=0.5)
    return GenerationTask(
        game=GAME,
        model=MODEL,
        algorithm=Component(id="ppo"),
        steps=1,
        seed=seed,
        opponents=(live, *others),
        tables=2 * _IN_PLAY * 8,
    )


def measure(versions: int) -> dict[str, float]:
    """The actor's memory with one opponent, and its peak while the whole pool is played."""
    with tempfile.TemporaryDirectory() as folder, closing(CrewPool(store := ArtifactStore(folder))) as crews:
        say(f"writing {versions} versions")
        pool = fill_pool(store, versions)

        def most(hands: Sequence[Sequence[CheckpointRef]]) -> float:
            held = []
            for seed, opponents in enumerate(hands):
                run_generation(
                    task(opponents, seed), store=store, progress=lambda _: None, should_stop=lambda: False, crews=crews
                )
                held.append(actor_megabytes())
                say(f"  {len(opponents)} opponents: the actor holds {held[-1]:,.0f} MB")
            return max(held)

        before = most([pool[:1]] * 3)
        after = most([pool[first : first + _IN_PLAY] for first in range(0, versions, _IN_PLAY)])
    return {
        "versions": versions,
        "megabytes_each": round(pool[0].size / _MEGABYTE, 2),
        "before": round(before, 1),
        "most": round(after, 1),
        "added": round(after - before, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a line for people")
    parser.add_argument("--versions", type=int, default=500)
    given = parser.parse_args()
    torch.set_num_threads(1)
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    result = measure(given.versions)
    ray.shutdown()
    if given.json:
        print(json.dumps(result))
    else:
        print(
            f"{result['versions']} versions of {result['megabytes_each']} MB add {result['added']} MB to an actor "
            f"of {result['before']} MB"
        )


if __name__ == "__main__":
    main()
