"""Shares of trials, weights in the queue, and turns at a project's quota."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league.fair_share import (
    PLACE_PATIENCE,
    QuotaStanding,
    TrialDemand,
    queue_priority,
    queue_weight,
    quota_used_up,
    shares,
    smallest,
    takes_place_after,
    updated_cost,
)
from league.training_priority import Urgency


def test_a_project_gets_no_more_by_starting_more_trials() -> None:
    demands = {"a": TrialDemand(project="p")} | {f"b{n}": TrialDemand(project="q") for n in range(4)}
    assert shares(demands) == pytest.approx({"a": 0.5} | {f"b{n}": 0.125 for n in range(4)})


def test_priorities_divide_first_among_projects_and_then_within_one() -> None:
    demands = {
        "a": TrialDemand(project="p", project_priority=3),
        "b": TrialDemand(project="q", priority=2),
        "c": TrialDemand(project="q", priority=6),
    }
    assert shares(demands) == pytest.approx({"a": 0.75, "b": 0.0625, "c": 0.1875})
    weights = {name: queue_weight(name, demands) for name in demands}
    assert weights["c"] / weights["b"] == pytest.approx(3)


def test_long_generations_come_less_often() -> None:
    demands = {"short": TrialDemand(project="p", cost=10), "long": TrialDemand(project="p", cost=90)}
    assert queue_weight("short", demands) / queue_weight("long", demands) == pytest.approx(9)
    newcomer = demands | {"new": TrialDemand(project="p")}
    assert queue_weight("new", newcomer) == pytest.approx(1), "a trial that has recorded nothing counts as average"


def test_weights_stay_within_what_temporal_takes() -> None:
    demands = {"a": TrialDemand(project="p", cost=1e-6), "b": TrialDemand(project="p", cost=1e6)}
    assert queue_weight("a", demands) == 1000
    demands["c"] = TrialDemand(project="p", priority=1e-9)
    assert queue_weight("c", demands) == 0.001
    assert queue_weight("ended", demands) == 1


def test_the_cost_follows_the_newest_generations() -> None:
    assert updated_cost(None, 30) == 30
    assert updated_cost(10, 20) == pytest.approx(12)


def test_urgency_counts_only_where_a_trial_is_alone() -> None:
    assert queue_priority(Urgency.FAR_BEHIND, 1) is Urgency.FAR_BEHIND
    assert queue_priority(Urgency.FAR_BEHIND, 2) is Urgency.IN_STEP


def standing(seconds: float, *, priority: float = 1, wants: bool = True, free: float = 0) -> QuotaStanding:
    waited, empty = timedelta(seconds=seconds), timedelta(seconds=free)
    return QuotaStanding(priority=priority, wants=wants, since_begun=waited, place_free=empty)


def test_the_next_place_is_for_the_trial_that_waited_longest_by_its_priority() -> None:
    standings = {"a": standing(10, priority=3), "b": standing(20)}
    assert takes_place_after("b", standings) == "a"
    assert takes_place_after("a", standings) is None
    standings["b"] = standing(40)
    assert takes_place_after("a", standings) == "b"


def test_a_place_is_not_kept_for_a_trial_that_cannot_take_it() -> None:
    assert takes_place_after("a", {"a": standing(1), "b": standing(99, wants=False)}) is None
    late = PLACE_PATIENCE.total_seconds() + 1
    assert takes_place_after("a", {"a": standing(1), "b": standing(99, free=late)}) is None


def test_places_go_round_in_proportion_to_priorities() -> None:
    begun, order = {"a": 0.0, "b": 0.0}, []
    for clock in range(1, 41):
        standings = {"a": standing(clock - begun["a"], priority=3), "b": standing(clock - begun["b"])}
        turn = next(name for name in begun if takes_place_after(name, standings) is None)
        begun[turn] = clock
        order.append(turn)
    assert order.count("a") == pytest.approx(30, abs=2)


def test_quotas() -> None:
    assert not quota_used_up(1000, None)
    assert not quota_used_up(1, 2)
    assert quota_used_up(2, 2)
    assert smallest([None, 4, 2]) == 2
    assert smallest([None]) is None
