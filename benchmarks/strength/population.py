"""What a population saves on CartPole and gains in a connect-four league, beside the same members without copies.

    python -m benchmarks.population --json [--parts cartpole,connect_four] [--seeds 1,2,3] [--file FILE] [--plot FILE]

cartpole: six members whose learning rates start over three decades, until the first has a mean return of TARGET in the
training games of a generation. Beside it each of the six learning rates alone, until the same target or the end of its
budget. What is compared are environment steps, summed over all members, with six times the median of the six fixed
runs; a run that never gets there counts at its budget. The plot has the population's learning rates over steps.

connect_four: a league of four mains that copy each other, and the same league with the same four learning rates fixed,
for the same steps; then a round robin between the newest versions of both, and ratings from it.

A row a run is kept in the file; a second call runs only what is missing. Steps do not depend on the machine's load.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers.rates import say
from benchmarks.strength.population_league import league_row
from benchmarks.strength.population_plot import draw_schedule
from lanista.training.run import train
from orchestrator.populations import first_hyperparameters
from orchestrator.spec.reading.checking import check_spec

FILE = Path(__file__).parents[1] / "results" / "population.json"
PLOT = Path(__file__).parents[2] / "docs" / "images" / "population.svg"
TARGET, MEMBERS, BUDGET = 450.0, 6, 102_400
"""The mean return to reach, the number of members, and the steps after which a fixed run gives up."""
RATES = (1e-5, 1e-2)
Row = dict[str, Any]


def cartpole(seed: int, *, rate: float | None = None) -> Row:
    """The trial file: a population, or one player with a fixed learning rate."""
    exploit = {"by": "return", "quantile": 0.34, "min_games": 10}
    explore = {"learning_rate": {"initial": list(RATES), "perturb": [0.8, 1.25]}}
    population = {"size": MEMBERS, "every_generations": 2, "exploit": exploit, "explore": explore}
    algorithm = {"id": "ppo", "gamma": 0.99, "gae_lambda": 0.95, "entropy": 0.0, "value_clip": 0.0, "target_kl": 0.0}
    algorithm |= {"rollout_steps": 32, "minibatch": 256, "epochs": 10}
    return {
        "seed": seed,
        "game": {"id": "gymnasium", "env": "CartPole-v1", "vector": True},
        "model": {"id": "mlp", "hidden": [64, 64]},
        "algorithm": algorithm if rate is None else algorithm | {"learning_rate": rate},
        "league": {
            "players": [{"name": "main", "population": population} if rate is None else {"name": "main"}],
            "champion_gate": None,
        },
        "generation": {"steps": 5_120, "tables": 32},
        "evaluation": {"every_generations": 100_000},
        "budget": {"steps": BUDGET * (MEMBERS if rate is None else 1)},
    }


def first_rates(seed: int) -> list[float]:
    """The learning rates that the members of this seed's population start with."""
    first = first_hyperparameters(check_spec(cartpole(seed)))
    return [float(own["learning_rate"]) for own in first.values()]


def fixed_row(seed: int, rate: float) -> Row:
    """One run with a fixed learning rate, until the target or the end of its budget."""
    curve = []
    for generation in train(cartpole(seed, rate=rate), games=0):
        curve.append([generation.trial_steps, _rounded(generation.score)])
        if (generation.score or 0) >= TARGET:
            break
    return {"steps": _reached(curve), "budget": BUDGET, "curve": curve}


def population_row(seed: int) -> Row:
    """The population until one member reaches the target; steps are those of all members."""
    generations = []
    for generation in train(cartpole(seed), games=0):
        rate = generation.hyperparameters["learning_rate"]
        generations.append(
            {
                "player": generation.player,
                "player_steps": generation.player_steps,
                "trial_steps": generation.trial_steps,
                "score": _rounded(generation.score),
                "learning_rate": float(f"{rate:.6g}"),
                "copied": generation.copied,
            }
        )
        if (generation.score or 0) >= TARGET:
            break
    curve = [[each["trial_steps"], each["score"]] for each in generations]
    return {"steps": _reached(curve), "budget": BUDGET * MEMBERS, "generations": generations}


def summary(rows: list[Row]) -> dict[str, Any]:
    """The comparison of each seed that has all its runs."""
    found = []
    for seed in sorted({row["seed"] for row in rows if row["part"] == "cartpole"}):
        own = [row for row in rows if row["part"] == "cartpole" and row["seed"] == seed]
        fixed = [row["steps"] or row["budget"] for row in own if row["kind"] == "fixed"]
        whole = [row for row in own if row["kind"] == "population"]
        if len(fixed) < MEMBERS or not whole:
            continue
        steps = whole[0]["steps"] or whole[0]["budget"]
        found.append(
            {
                "seed": seed,
                "population_steps": steps,
                "six_times_median": MEMBERS * statistics.median(fixed),
                "six_times_best": MEMBERS * min(fixed),
                "fixed_that_reached": sum(row["steps"] is not None for row in own if row["kind"] == "fixed"),
                "copies": sum(each["copied"] is not None for each in whole[0]["generations"]),
                "fewer": bool(whole[0]["steps"] and steps < MEMBERS * statistics.median(fixed)),
            }
        )
    leagues = [row for row in rows if row["part"] == "connect_four"]
    keys = ("seed", "steps", "population_elo", "fixed_elo", "difference", "low", "high", "best", "games")
    return {"cartpole": found, "connect_four": [{key: row[key] for key in keys} for row in leagues]}


def wanted(parts: list[str], seeds: list[int]) -> list[tuple[Row, Callable[[], Row]]]:
    """Every run as its key and its work."""
    found: list[tuple[Row, Callable[[], Row]]] = []
    for seed in seeds:
        if "cartpole" in parts:
            base = {"part": "cartpole", "target": TARGET, "seed": seed}
            found.append(({**base, "kind": "population"}, lambda seed=seed: population_row(seed)))  # type: ignore[misc]
            for rate in first_rates(seed):
                key = {**base, "kind": "fixed", "learning_rate": float(f"{rate:.6g}")}
                found.append((key, lambda seed=seed, rate=rate: fixed_row(seed, rate)))  # type: ignore[misc]
        if "connect_four" in parts:
            key = {"part": "connect_four", "kind": "league", "seed": seed}
            found.append((key, lambda seed=seed: league_row(seed)))  # type: ignore[misc]
    return found


def main() -> None:
    """Run what is missing, and print the comparison."""
    arguments = _arguments()
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    rows: list[Row] = json.loads(arguments.file.read_text()) if arguments.file.exists() else []
    for key, work in wanted(arguments.parts.split(","), seeds):
        if any(key.items() <= row.items() for row in rows):
            continue
        say(f"{key}")
        rows.append({**key, **work()})
        write(arguments.file, rows)
        say(f"  {rows[-1].get('steps')} steps")
    result = summary(rows)
    if arguments.plot is not None:
        draw_schedule([row for row in rows if row["kind"] == "population"], arguments.plot)
    print(json.dumps(result, indent=None if arguments.json else 2))


def write(file: Path, rows: list[Row]) -> None:
    """One row a line, so that a run more is a line more; written whole, so that a kill leaves the old file."""
    text = "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"
    partial = file.with_suffix(".partial")
    partial.write_text(text)
    partial.replace(file)


def _reached(curve: list[list[Any]]) -> int | None:
    return next((int(steps) for steps, score in curve if (score or 0) >= TARGET), None)


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 2)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    parser.add_argument("--parts", default="cartpole,connect_four")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--plot", type=Path, default=PLOT, help="where the schedule is drawn")
    return parser.parse_args()


if __name__ == "__main__":
    main()
