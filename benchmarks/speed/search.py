"""Searched moves a second: beside the network calls alone, OpenSpiel's C++ MCTS, and pgx with mctx in JAX.

Rates are moves a second of CPU time, on one core and on two (two processes at once), at connect four. `share` is the
time of the network calls alone over the time of the search: 1 would be a search that costs nothing beside them.
OpenSpiel is beside the search without a network, which also searches OpenSpiel's game, by cloned states. pgx with mctx
(installed once into build/jax-venv) is beside those with one, with networks of the same shapes and the same number of
tables.

    python -m benchmarks.search --json [--simulations 1,16,64,256] [--cores 1,2] [--networks none,...] [--seconds 5]

A rate is a row of benchmarks/results/search.json, with the machine's load before it; a second call measures only what
is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import torch

from benchmarks.peers.rates import say
from benchmarks.peers.searching.venvs import run_tool
from benchmarks.results_file import read_results, write_results
from orchestrator.catalog import Component
from workers.games.names import make_game
from workers.inference.policy import Policy
from workers.models.contract import build_model
from workers.search.networks import Precision, network, uniform_network
from workers.search.rules import SearchRules
from workers.search.search import Evaluate, Search

GAME = "connect_four"
RESULTS = Path(__file__).parents[1] / "results" / "search.json"
PEERS = ("openspiel", "mctx")
_CONVRES = Component(id="convres", options={"channels": 32, "blocks": 2})
CLONED = "none (cloned states)"
"""OpenSpiel's game instead of the built-in one: its tables are copied by cloning its states."""
NETWORKS: dict[str, tuple[Component | None, int, Precision]] = {
    "none": (None, 1024, "f32"),
    CLONED: (None, 64, "f32"),
    "perceptron 128x128": (Component(id="mlp", options={"hidden": [128, 128]}), 1024, "f32"),
    "conv-res 32x2": (_CONVRES, 256, "f32"),
    "conv-res 32x2 bf16": (_CONVRES, 256, "bf16"),
}
"""By name: the model (none: no network), the tables that are searched together, and the type it is computed in."""


@dataclass(frozen=True, kw_only=True)
class Rate:
    """One measured rate."""

    engine: str
    network: str
    simulations: int
    cores: int
    tables: int
    moves_per_second: float
    share: float | None = None
    """Of the time that the network calls alone take; None where there is no network."""


def main() -> None:
    """Measure what is missing, and print all rows as a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--simulations", default="1,16,64,256", help="simulations a move, separated by commas")
    parser.add_argument("--seconds", type=float, default=5.0, help="CPU seconds of each measurement")
    parser.add_argument("--cores", default="1,2", help="processes at once, separated by commas")
    parser.add_argument("--networks", default=",".join(NETWORKS), help="which, separated by commas")
    parser.add_argument(
        "--peers", default=",".join(PEERS), help="whom to run beside, separated by commas; '' for nobody"
    )
    parser.add_argument("--file", type=Path, default=RESULTS)
    given = parser.parse_args()
    networks, peers = given.networks.split(","), [name for name in given.peers.split(",") if name]
    for option, names, known in (("networks", networks, NETWORKS), ("peers", peers, PEERS)):
        if unknown := set(names) - set(known):
            raise SystemExit(f"--{option} {', '.join(sorted(unknown))}: allowed are {', '.join(known)}")
    rows = read_results(given.file)
    for cores in map(int, given.cores.split(",")):
        for simulations in map(int, given.simulations.split(",")):
            for name, measure in measurements(networks, peers, simulations, given.seconds).items():
                key = f"{name}, {simulations} simulations, {cores} cores, {given.seconds:g} s"
                if key not in rows:
                    load = round(os.getloadavg()[0], 1)
                    rows[key] = {**asdict(_on_cores(cores, measure)), "load": load}
                    say(f"{key}: {rows[key]['moves_per_second']:.0f} moves/s")
                    write_results(given.file, rows)
    print(json.dumps(rows) if given.json else table(rows.values()))


def measurements(
    networks: Sequence[str], peers: Sequence[str], simulations: int, seconds: float
) -> dict[str, partial[Rate]]:
    """By engine and network, in the order in which rivals are to run: each beside what it is compared with."""
    found: dict[str, partial[Rate]] = {}
    for name in networks:
        found[f"lanista, {name}"] = partial(searched, name, simulations, seconds)
        if NETWORKS[name][0] is not None and "mctx" in peers:
            found[f"pgx+mctx, {name}"] = partial(mctx, name, simulations, seconds)
        # its bot needs two simulations
        if name == "none" and "openspiel" in peers and simulations > 1:
            found["openspiel, none"] = partial(openspiel, simulations, seconds)
    return found


def searched(name: str, simulations: int, seconds: float) -> Rate:
    """The rate of the search with this network, in self-play from the start of the game."""
    torch.set_num_threads(1)
    component, tables, precision = NETWORKS[name]
    make = partial(make_game, "openspiel", game=GAME) if name == CLONED else partial(make_game, GAME)
    game = make(tables)
    game.reset(np.arange(tables, dtype=np.uint64))
    evaluate: Evaluate = uniform_network
    if component is not None:
        evaluate = network(Policy(build_model(component, game.spec)), precision)
    spent = [0.0, 0]

    def timed(observations: Any, legal: Any) -> Any:
        began = time.process_time()
        found = evaluate(observations, legal)
        spent[0] += time.process_time() - began
        spent[1] += len(found[1])
        return found

    search = Search(make, SearchRules(simulations=simulations), slots=tables)
    rng, everywhere, moves = np.random.default_rng(0), np.arange(tables), 0
    game.step(search.run(game, everywhere, timed, rng.random(tables, dtype=np.float32)).actions)  # warms up
    spent[:] = [0.0, 0]
    began = time.process_time()
    while time.process_time() - began < seconds:
        game.step(search.run(game, everywhere, timed, rng.random(tables, dtype=np.float32)).actions)
        moves += tables
    took = time.process_time() - began
    return Rate(
        engine="lanista",
        network=name,
        simulations=simulations,
        cores=1,
        tables=tables,
        moves_per_second=moves / took,
        share=None if component is None else spent[0] / took,
    )


def mctx(name: str, simulations: int, seconds: float) -> Rate:
    """The rate of mctx's Gumbel search in pgx's game, on one thread."""
    component, tables, precision = NETWORKS[name]
    assert component is not None
    shape = {"hidden": [], "channels": 0, "blocks": 0, **component.options}
    given = {**shape, "bf16": precision == "bf16", "simulations": simulations, "tables": tables, "seconds": seconds}
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    one_thread = {**os.environ, "XLA_FLAGS": flags, "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
    answer = json.loads(run_tool("jax", "mctx_run.py", json.dumps(given), environment=one_thread))
    return Rate(
        engine="pgx+mctx",
        network=name,
        simulations=simulations,
        cores=1,
        tables=tables,
        moves_per_second=answer["moves_per_second"],
    )


def openspiel(simulations: int, seconds: float) -> Rate:
    """The rate of OpenSpiel's C++ bot, which plays one random game for each simulation in place of a network."""
    game, moves = pyspiel.load_game(GAME), 0
    began = time.process_time()
    while time.process_time() - began < seconds:
        bot = pyspiel.MCTSBot(
            game=game,
            evaluator=pyspiel.RandomRolloutEvaluator(n_rollouts=1, seed=moves),
            uct_c=2.0,
            max_simulations=simulations,
            max_memory_mb=1000,
            solve=True,
            seed=moves,
            verbose=False,
        )
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(bot.step(state))
            moves += 1
    took = time.process_time() - began
    return Rate(
        engine="openspiel", network="none", simulations=simulations, cores=1, tables=1, moves_per_second=moves / took
    )


def _on_cores(cores: int, measure: partial[Rate]) -> Rate:
    """The sum of the rates of so many processes at once."""
    if cores == 1:
        return measure()
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        rows = [each.result() for each in [pool.submit(measure) for _ in range(cores)]]
    shares = [row.share for row in rows if row.share is not None]
    return Rate(
        engine=rows[0].engine,
        network=rows[0].network,
        simulations=rows[0].simulations,
        cores=cores,
        tables=rows[0].tables,
        moves_per_second=sum(row.moves_per_second for row in rows),
        share=sum(shares) / len(shares) if shares else None,
    )


def table(rows: Iterable[dict[str, Any]]) -> str:
    """The rows for people."""
    lines = [f"{'engine':10} {'network':20} {'simulations':>11} {'cores':>5} {'moves/s':>9} {'network share':>13}"]
    for row in rows:
        share = "" if row["share"] is None else f"{row['share']:.2f}"
        what = f"{row['engine']:10} {row['network']:20} {row['simulations']:11} {row['cores']:5}"
        lines.append(f"{what} {row['moves_per_second']:9.0f} {share:>13}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
