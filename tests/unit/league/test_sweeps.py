"""Rules of sweeps: spaces, rungs, brackets, early stopping and importance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from league.errors import InvalidInput
from league.sweeps import (
    Choice,
    Integer,
    Rungs,
    RungValue,
    Uniform,
    grid_points,
    hyperband_brackets,
    importances,
    judge_asha,
    judge_halving,
    random_point,
)
from league.sweeps.early_stopping import judge_last
from league.sweeps.rungs import bracket_of

SPACE = {
    "rate": Uniform(low=1e-4, high=1e-2, log=True),
    "epochs": Integer(low=2, high=5),
    "net": Choice(values=([64], [64, 64])),
}


def test_a_random_point_is_a_function_of_seed_and_number() -> None:
    points = [random_point(SPACE, seed=3, number=number) for number in range(200)]
    assert points == [random_point(SPACE, seed=3, number=number) for number in range(200)]
    assert points[0] != random_point(SPACE, seed=4, number=0)
    rates = np.log10([point["rate"] for point in points])
    assert -4 <= rates.min() < -3.8 and -2.2 < rates.max() <= -2
    assert abs(float(np.mean(rates)) + 3) < 0.15, "each decade is as likely as another"
    assert {point["epochs"] for point in points} == {2, 3, 4, 5}
    assert sum(point["net"] == [64] for point in points) == pytest.approx(100, abs=25)


def test_a_grid_has_every_combination_and_both_ends() -> None:
    space = {"rate": Uniform(low=1e-4, high=1e-2, log=True, points=3), "epochs": Integer(low=2, high=3)}
    points = grid_points(space)
    assert [point["epochs"] for point in points] == [2, 3] * 3
    assert [point["rate"] for point in points[::2]] == pytest.approx([1e-4, 1e-3, 1e-2])
    assert grid_points(space, 2) == points[:2]


def test_a_grid_of_a_range_needs_points() -> None:
    with pytest.raises(InvalidInput, match="points"):
        grid_points({"rate": Uniform(low=0.0, high=1.0)})


@pytest.mark.parametrize("bounds", [(2.0, 1.0), (1.0, 1.0), (0.0, math.inf)])
def test_a_range_has_two_ends_in_order(bounds: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="smaller first"):
        Uniform(low=bounds[0], high=bounds[1])


def test_a_logarithmic_range_begins_above_zero() -> None:
    with pytest.raises(InvalidInput, match="above 0"):
        Integer(low=0, high=5, log=True)


def test_rungs_are_shares_of_the_budget() -> None:
    assert Rungs.geometric(budget=9_000, eta=3).steps == (1_000, 3_000, 9_000)
    assert Rungs.geometric(budget=9_000, eta=3, first=2_000).steps == (3_000, 9_000)
    assert Rungs.geometric(budget=5, eta=3, first=5).steps == (5,)
    with pytest.raises(InvalidInput, match="first rung"):
        Rungs.geometric(budget=5, eta=3, first=6)


def test_rungs_that_steps_reach() -> None:
    rungs = Rungs(steps=(10, 30))
    assert [rungs.reached(steps) for steps in (9, 10, 29, 30, 31)] == [None, 0, 0, 1, 1]


def test_hyperbands_brackets_have_its_proportions() -> None:
    rungs = Rungs.geometric(budget=81, eta=3, first=1)
    brackets = hyperband_brackets(rungs, eta=3, trials=81 + 34 + 15 + 8 + 5)
    assert [bracket.trials for bracket in brackets] == [81, 34, 15, 8, 5], "table 1 of the paper"
    assert [bracket.first_rung for bracket in brackets] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("trials", range(1, 30))
def test_every_trial_has_a_bracket(trials: int) -> None:
    brackets = hyperband_brackets(Rungs.geometric(budget=27, eta=3, first=1), eta=3, trials=trials)
    assert sum(bracket.trials for bracket in brackets) == trials
    numbers = [bracket_of(brackets, number).number for number in range(trials)]
    assert [numbers.count(bracket.number) for bracket in brackets] == [bracket.trials for bracket in brackets]


def values(*numbers: float | None) -> list[RungValue]:
    return [RungValue(trial=trial, value=value) for trial, value in enumerate(numbers)]


def test_asha_lets_the_best_so_far_go_on_and_waits_for_nobody() -> None:
    found = [5.0, 4.0, 6.0, 1.0, 5.5, 7.0]
    verdicts = [judge_asha(values(*found[: place + 1]), eta=3, rung=0).verdict for place in range(6)]
    # one of three or fewer goes on, and two of six
    assert verdicts == ["go_on", "stop", "go_on", "stop", "stop", "go_on"]


def test_of_equal_values_the_first_is_ahead() -> None:
    assert judge_asha(values(2.0, 2.0), eta=2, rung=0).verdict == "stop"


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_missing_value_is_the_worst(missing: float | None) -> None:
    verdict = judge_asha(values(-1e9, missing), eta=2, rung=0)
    assert verdict.verdict == "stop" and verdict.evidence["rank"] == 2


def test_halving_keeps_the_best_share_of_a_bracket() -> None:
    verdicts = judge_halving(values(1, 9, 3, 7, 5, 2, 8, 4, 6), eta=3, rung=1)
    assert [verdict.trial for verdict in verdicts if verdict.verdict == "go_on"] == [1, 3, 6]
    assert verdicts[0].reason == "1 is number 9 of 9 at rung 1; the best 1/3 of its bracket, 3, go on"
    assert verdicts[0].evidence["values"][1] == [1, 9]


def test_at_least_one_trial_of_a_bracket_goes_on() -> None:
    assert [verdict.verdict for verdict in judge_halving(values(1, 2), eta=3, rung=0)] == ["stop", "go_on"]


def test_the_last_rung_completes_a_trial() -> None:
    verdict = judge_last(values(3.0, 5.0), rung=2)
    assert verdict.verdict == "complete" and verdict.evidence["rank"] == 1


def test_importance_finds_the_field_that_matters() -> None:
    points = [random_point(SPACE, seed=1, number=number) for number in range(60)]
    noise = np.random.default_rng(0).normal(0, 0.1, 60)
    found = importances(SPACE, points, [math.log(point["rate"]) + noise[place] for place, point in enumerate(points)])
    assert next(iter(found)) == "rate" and found["rate"] > 0.7
    assert max(found["epochs"], found["net"]) < 0.2


def test_importance_of_nothing_is_nothing() -> None:
    points = [random_point(SPACE, seed=1, number=number) for number in range(6)]
    assert importances(SPACE, points, [1.0] * 6) == {}
    assert importances(SPACE, points[:3], [1.0, 2.0, 3.0]) == {}
    assert importances(SPACE, points, [math.nan] * 6) == {}
