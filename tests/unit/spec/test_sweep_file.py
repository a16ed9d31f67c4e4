"""Sweep files: the example, paths into the trial file, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.spec.reading.problems import InvalidTrial
from orchestrator.spec.reading.sweep_loading import check_sweep, load_sweep_file, parse_sweep
from orchestrator.spec.sweeps.points import corner_trials, holds, trial_at

EXAMPLES = Path(__file__).parents[3] / "examples" / "sweeps"
TRIAL: dict[str, Any] = {
    "game": {"id": "tic_tac_toe"},
    "league": {"players": [{"name": "main"}, {"name": "random", "role": "bot", "bot": "random"}]},
}
RATE = {"algorithm.learning_rate": {"log_uniform": [1e-4, 1e-2]}}


def sweep(**changes: Any) -> dict[str, Any]:
    return {"trial": TRIAL, "space": RATE, "budget": {"steps": 9_000}, **changes}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.name)
def test_every_example_is_valid(path: Path) -> None:
    found = load_sweep_file(path)
    assert found.project == "cartpole", "the base trial's"
    assert found.ladder.steps == (5_120, 15_360, 46_080)
    assert len(list(corner_trials(found.spec))) == 1 + 2 + 3 + 2


def test_a_point_is_laid_over_the_trial() -> None:
    spec = check_sweep(sweep(space={**RATE, "players.main.model": {"choice": [{"id": "mlp", "hidden": [8]}]}}))
    point = {"algorithm.learning_rate": 0.001, "players.main.model": {"id": "mlp", "hidden": [8]}}
    trial = trial_at(spec, point, 3)
    stored = trial.model_dump(mode="json")
    assert stored["algorithm"]["learning_rate"] == 0.001
    assert stored["league"]["players"][0]["model"]["hidden"] == [8]
    assert trial.budget.steps == 9_000
    assert all(holds(stored, path, value) for path, value in point.items())
    assert not holds(stored, "algorithm.learning_rate", 0.002)
    assert trial.seed != trial_at(spec, point, 4).seed, "each trial has a seed of its own"
    same = check_sweep(sweep(same_seed=True))
    assert trial_at(same, {}, 0).seed == trial_at(same, {}, 1).seed


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"space": {"algorithm.learning_rat": {"uniform": [0.1, 0.2]}}}, "did you mean 'learning_rate'"),
        ({"space": {"algorithm.learning_rate": {"uniform": [0.1, 5e9], "choice": [1]}}}, "exactly one of"),
        ({"space": {"algorithm.learning_rate": {"log_uniform": [0.0, 1.0]}}}, "above 0"),
        ({"space": {"algorithm.gamma": {"uniform": [0.9, 1.5]}}}, "space.algorithm.gamma"),
        ({"space": {"players.nobody.role": {"choice": ["main"]}}}, "has no item 'nobody'"),
        ({"space": {"budget.steps": {"int": [1, 2]}}}, "a sweep sets budget itself"),
        ({"space": {}}, "space"),
        ({"method": "grid"}, "points"),
        ({"method": "random", "rungs": {"eta": 2}}, "asha and hyperband only"),
        ({"method": "asha", "rungs": {"brackets": 2}}, "hyperband only"),
        ({"rungs": {"first": 10_000}}, "must not exceed budget.steps"),
        ({"metric": "win_rate"}, "needs an opponent"),
        ({"metric": {"name": "win_rate", "opponent": "nobody"}}, "has no such player"),
        ({"space": {"algorithm.epochs": {"int": [1]}}}, "is missing"),
        ({"metric": {"name": "return", "player": "random"}}, "does not learn"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidTrial, match=words):
        check_sweep(sweep(**changes))


@pytest.mark.parametrize("method", ["grid", "random"])
def test_values_that_contradict_each_other_are_refused_before_the_start(method: str) -> None:
    space = {
        "league.snapshot.min_steps": {"choice": [5_000, 100, 200]},
        "league.snapshot.max_steps": {"choice": [1_000, 9_000, 8_000]},
    }
    with pytest.raises(InvalidTrial, match=r"trial \d, with .*min_steps = 5000, .*max_steps = 1000, is refused"):
        check_sweep(sweep(space=space, method=method, trials=9))


@pytest.mark.parametrize("method", ["grid", "random", "tpe", "asha", "hyperband"])
def test_a_sweep_is_read_again_with_its_defaults(method: str) -> None:
    space = {"algorithm.epochs": {"int": [1, 3]}}
    spec = check_sweep(sweep(method=method, space=space))
    assert check_sweep(spec.to_json()) == spec
    text = f"trial: {{game: {{id: tic_tac_toe}}}}\nbudget: {{steps: 9000}}\nmethod: {method}\nspace: {space}\n"
    assert parse_sweep(text, folder=EXAMPLES).spec.method == method


def test_a_problem_has_its_line() -> None:
    text = "trial: {game: {id: tic_tac_toe}}\nbudget: {steps: 900}\nspace:\n  algorithm.gamma: {uniform: [0.5, 2.0]}\n"
    with pytest.raises(InvalidTrial) as refused:
        parse_sweep(text, folder=EXAMPLES)
    assert refused.value.problems[0].line == 4


def test_a_grid_has_as_many_trials_as_points() -> None:
    space = {"algorithm.epochs": {"int": [1, 3]}, "algorithm.entropy": {"choice": [0.0, 0.1]}}
    assert check_sweep(sweep(space=space, method="grid")).trial_count == 6
    assert check_sweep(sweep(space=space, method="grid", trials=4)).trial_count == 4
