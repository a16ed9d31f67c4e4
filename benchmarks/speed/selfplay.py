"""Connect-four self-play with PPO, Lanista beside RLlib: steps sampled and trained a second, seconds to strength.

    python -m benchmarks.selfplay --json [--parts same,best,bare,strength]

Progress goes to stderr, the result to stdout. docs/benchmarks.md says what is measured and how.

See docs/decisions/measuring.md.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from typing import Any

import psutil
import ray
import torch

from benchmarks.peers.rates import say
from benchmarks.peers.strength import measure_strength
from benchmarks.peers.throughput import Throughput
from orchestrator.storage.artifacts import ArtifactStore

PARTS = ("same", "best", "bare", "strength")
_LOGICAL_CPUS = 8
"""More than the cores, so that no actor waits for one of Ray's slots: the cores are the limit."""
_BUSY_PERCENT = 15


def main() -> None:
    given = arguments().parse_args()
    warn_if_busy()
    # The judge plays in this process, between the slices of the others.
    torch.set_num_threads(1)
    ray.init(address="local", num_cpus=_LOGICAL_CPUS, include_dashboard=False, log_to_driver=False)
    with tempfile.TemporaryDirectory() as folder:
        results = run(given, ArtifactStore(folder))
    ray.shutdown()
    if given.json:
        print(json.dumps(results))
    else:
        for part, numbers in results.items():
            print(f"{part}: " + ", ".join(f"{name} {number}" for name, number in numbers.items()))


def warn_if_busy() -> None:
    """Other load slows down the rival with more processes more, so ratios on a busy machine are wrong."""
    busy = psutil.cpu_percent(interval=2.0)
    if busy > _BUSY_PERCENT:
        say(f"warning: other processes use {busy:.0f} % of this machine; do not trust the ratios")


def run(given: argparse.Namespace, store: ArtifactStore) -> dict[str, dict[str, Any]]:
    """Run the requested parts, in order."""
    throughput = Throughput(store=store, rounds=given.rounds, seconds=given.seconds)
    measures: dict[str, Callable[[], dict[str, Any]]] = {
        "same": throughput.same,
        "best": throughput.best,
        "bare": throughput.bare,
        "strength": lambda: measure_strength(store, seeds=given.seeds, limit=given.limit),
    }
    results = {}
    for part in PARTS:
        if part in given.parts:
            say(f"{part}:")
            results[part] = measures[part]()
    return results


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.selfplay", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines for people")
    parser.add_argument("--parts", type=parts, default=PARTS, help=f"some of {','.join(PARTS)}; all by default")
    parser.add_argument("--rounds", type=int, default=5, help="slices of each rival, of which the median is taken")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of a slice")
    parser.add_argument("--seeds", type=_seeds, default=(1, 2, 3), help="seeds of the part strength")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of training after which it gives up")
    return parser


def parts(text: str) -> tuple[str, ...]:
    """Names of parts, separated by commas."""
    wanted = tuple(text.split(","))
    unknown = sorted(set(wanted) - set(PARTS))
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown part {', '.join(unknown)}; allowed: {', '.join(PARTS)}")
    return wanted


def _seeds(text: str) -> tuple[int, ...]:
    return tuple(int(seed) for seed in text.split(","))


if __name__ == "__main__":
    main()
