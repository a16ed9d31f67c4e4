"""Steps that Hyperband and ASHA save against training every trial to its end, and the rank of the best trial.

CartPole by PPO, learning rates over four decades. A generation of a trial is a function of its seed and its file, so
each trial is trained once, to the end; the rules of `league/sweeps/` then decide from its values at the rungs, as the
store does. A seed that the file of results has is not trained again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lanista
from benchmarks.results_file import read_results, write_results
from league.sweeps import RungValue, judge_asha, judge_halving, random_point
from league.sweeps.early_stopping import GO_ON
from league.sweeps.rungs import bracket_of
from orchestrator.spec.reading.sweep_loading import check_sweep
from orchestrator.spec.sweeps.points import trial_at
from orchestrator.spec.sweeps.sweep import SweepSpec

FILE = Path(__file__).parents[1] / "results" / "hyperband.json"
STEPS = 1_024
BASE: dict[str, Any] = {
    "game": {"id": "gymnasium", "env": "CartPole-v1", "vector": True},
    "model": {"id": "mlp", "hidden": [64, 64]},
    "algorithm": {
        "id": "ppo",
        "gamma": 0.99,
        "entropy": 0.0,
        "value_clip": 0.0,
        "target_kl": 0.0,
        "rollout_steps": 32,
        "minibatch": 256,
        "epochs": 10,
    },
    "league": {"preset": "self_play", "champion_gate": None},
    "generation": {"steps": STEPS, "tables": 32, "rollout_actors": 1},
}
SPACE = {"algorithm.learning_rate": {"log_uniform": [1e-5, 1e-1]}}
TRIALS = 17
"""What Hyperband's own sizes for three rungs and eta 3 add up to: 9, 5 and 3."""

Curve = list[tuple[int, float]]


def sweep_of(method: str, seed: int) -> SweepSpec:
    """The sweep; its points and the trials' seeds depend on the seed alone, and not on the method."""
    rungs = {} if method == "random" else {"rungs": {"eta": 3, "first": 3 * STEPS}}
    budget = {"steps": 27 * STEPS}
    chosen = {"method": method, "trials": TRIALS, "seed": seed, "budget": budget, **rungs}
    return check_sweep({"trial": BASE, "space": SPACE, **chosen})


def train(spec: SweepSpec, number: int) -> tuple[dict[str, Any], Curve]:
    """Train a trial to its end; its point, and its return at each generation."""
    point = random_point(spec.dimensions, seed=spec.seed, number=number)
    curve: Curve = []
    for generation in lanista.train(trial_at(spec, point, number).to_json(), games=0):
        if generation.number:
            curve.append((generation.trial_steps, generation.metrics.get("return_mean", 0.0)))
    say(f"trial {number}: {point['algorithm.learning_rate']:.2g} gives {curve[-1][1]:.1f}")
    return point, curve


def at_rung(spec: SweepSpec, curve: Curve, rung: int) -> float:
    """The value at a rung: of the generation that reached it."""
    return next(value for steps, value in curve if steps >= spec.ladder.steps[rung])


def stopped_at(spec: SweepSpec, curves: Sequence[Curve]) -> list[int]:
    """The rung that each trial ends at, by the rules of the sweep's method; trials arrive in the order of numbers."""
    ends = [0] * len(curves)
    alive = list(range(len(curves)))
    for rung in range(spec.ladder.last + 1):
        here = [number for number in alive if bracket_of(spec.brackets, number).first_rung <= rung]
        for number in here:
            ends[number] = rung
        if rung < spec.ladder.last:
            going = {number for number in here if number in _going_on(spec, curves, here, rung)}
            alive = [number for number in alive if number not in here or number in going]
    return ends


def _going_on(spec: SweepSpec, curves: Sequence[Curve], here: Sequence[int], rung: int) -> set[int]:
    values = [RungValue(trial=number, value=at_rung(spec, curves[number], rung)) for number in here]
    eta = spec.rungs.eta
    if spec.method == "asha":
        verdicts = [judge_asha(values[: place + 1], eta=eta, rung=rung) for place in range(len(values))]
    else:
        verdicts = []
        for bracket in spec.brackets:
            own = [value for value in values if bracket_of(spec.brackets, value.trial) == bracket]
            verdicts += judge_halving(own, eta=eta, rung=rung) if own else []
    return {verdict.trial for verdict in verdicts if verdict.verdict == GO_ON}


def values_at_rungs(spec: SweepSpec, curves: Sequence[Curve]) -> list[list[float]]:
    """Each trial's value at every rung, had it never been stopped: what the verdicts can be computed from."""
    return [[round(at_rung(spec, curve, rung), 3) for rung in range(spec.ladder.last + 1)] for curve in curves]


def judged(spec: SweepSpec, curves: Sequence[Curve]) -> dict[str, Any]:
    """What the method trained, and the rank of its best trial among all trials trained to the end.

    Several trials reach the highest return, 500: the rank counts only those that are strictly better.
    """
    ends = stopped_at(spec, curves)
    steps = sum(spec.ladder.steps[rung] for rung in ends)
    last = spec.ladder.last
    final = [RungValue(trial=number, value=at_rung(spec, curve, last)) for number, curve in enumerate(curves)]
    highest = max(ends)
    finalists = [value for value in final if ends[value.trial] == highest]
    best = max(finalists, key=lambda value: value.key)
    return {
        "steps": steps,
        "saved": round(1 - steps / spec.most_steps, 3),
        "best_trial": best.trial,
        "best_value": round(best.key, 1),
        "rank_in_full_run": 1 + sum(value.key > best.key for value in final),
        "trials_to_the_end": len(finalists),
    }


def run(seed: int) -> dict[str, Any]:
    """Train all trials of a seed, and judge them by both methods."""
    spec = sweep_of("random", seed)
    trained = [train(spec, number) for number in range(TRIALS)]
    curves = [curve for _, curve in trained]
    final = [curve[-1][1] for curve in curves]
    return {
        "seed": seed,
        "full_steps": spec.most_steps,
        "best_of_full_run": round(max(final), 1),
        "hyperband": judged(sweep_of("hyperband", seed), curves),
        "asha": judged(sweep_of("asha", seed), curves),
        "rates": [point["algorithm.learning_rate"] for point, _ in trained],
        "final_returns": [round(value, 1) for value in final],
        "values_at_rungs": values_at_rungs(sweep_of("hyperband", seed), curves),
        "ended_at_rung": stopped_at(sweep_of("hyperband", seed), curves),
    }


def passed(row: dict[str, Any]) -> bool:
    """Half the steps saved, and the best trial among the top three of the full run."""
    hyperband = row["hyperband"]
    return bool(hyperband["saved"] >= 0.5 and hyperband["rank_in_full_run"] <= 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--again", action="store_true", help="train also the seeds that the file of results has")
    parser.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    arguments = parser.parse_args()
    rows = {} if arguments.again else read_results(FILE)
    for seed in arguments.seeds:
        if str(seed) not in rows:
            rows[str(seed)] = run(seed)
            write_results(FILE, rows)
    chosen = [rows[str(seed)] for seed in arguments.seeds]
    if arguments.json:
        print(json.dumps(chosen))
    else:
        for row in chosen:
            print(f"seed {row['seed']}: hyperband {row['hyperband']}, asha {row['asha']}")
    sys.exit(0 if all(passed(row) for row in chosen) else 1)


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
