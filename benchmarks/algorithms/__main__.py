"""Seconds and steps until each algorithm reaches its target, beside the same algorithm of another project.

    python -m benchmarks.algorithms --json [--only dqn,sac] [--peers] [--seeds 1,2,3] [--again] [--file FILE]

A run is one seed of one algorithm. Its row is written to the file as soon as it ends (benchmarks/results/
algorithms.json unless given); runs that have a row are not repeated unless `--again`. `null` means not reached.
Evaluations, 20 greedy games each, count neither in the seconds nor in the steps. Every project computes on one thread.
A change of any setting makes another row. With `--peers` the other projects are installed once, each into its own
build/<peer>-venv.
"""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path
from typing import Any

import ray

from benchmarks.algorithms import lanista, peers
from benchmarks.algorithms.cases import CASES, Case
from benchmarks.algorithms.rows import RESULTS, Results, Row, summary
from benchmarks.peers.rates import say


def rows_of(case: Case, by: str, seeds: list[int], results: Results, again: bool) -> list[Row]:
    """The rows of all seeds, run now where there are none."""
    found = []
    for seed in seeds:
        row = results.get(lanista.key(case, seed) if by == "lanista" else peers.key(case, seed))
        if row is None or again:
            row = lanista.run(case, seed) if by == "lanista" else peers.run(case, seed)
            results.add(row)
        found.append(row)
        say(f"{case.algorithm} by {by}, seed {seed}: {row.seconds} s, {row.steps} steps (best {row.best:.1f})")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="algorithms, separated by commas; default: all")
    parser.add_argument("--peers", action="store_true", help="run the other projects too")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--again", action="store_true", help="repeat runs that the file has")
    parser.add_argument("--file", type=Path, default=RESULTS)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else list(CASES)
    if unknown := [name for name in names if name not in CASES]:
        parser.error(f"no such case: {', '.join(unknown)}; there are {', '.join(CASES)}")
    seeds = [int(seed) for seed in given.seeds.split(",")]
    results = Results(given.file)
    ray.init(num_cpus=1, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
    found: dict[str, Any] = {}
    for name in names:
        case = CASES[name]
        mine = rows_of(case, "lanista", seeds, results, given.again)
        theirs = rows_of(case, case.peer, seeds, results, given.again) if given.peers and case.peer else []
        found[name] = summary(mine, theirs)
    if given.json:
        print(json.dumps(found))
    else:
        for name, figures in found.items():
            print(name, figures)


if __name__ == "__main__":
    main()
