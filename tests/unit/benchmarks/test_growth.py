"""The simulation of growth: against closed forms, and the page that states what is recorded."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from benchmarks.growth import page
from benchmarks.growth.__main__ import error, grow, predict
from benchmarks.growth.cluster import Cluster, limits, one_machine, row, visits
from benchmarks.growth.costs import Costs, Sample, costs_at, store_shares
from benchmarks.growth.simulation import Visit, simulate_closed, simulate_open
from benchmarks.results_file import read_results

COSTS = Costs(
    players=100,
    cpu_seconds={"temporal": 0.02, "postgres": 0.01, "store-worker": 0.04, "train-worker": 0.01},
    commits=12.0,
    actions=20.0,
)
SMALL = Sample(
    players=8, seconds=50.0, generations=100, cpu_seconds={"postgres": 10.0, "actors": 10.0}, commits=500, load=1.0
)
LARGE = replace(SMALL, players=40, cpu_seconds={"postgres": 26.0, "actors": 18.0}, commits=600)


@pytest.mark.parametrize("load", [0.3, 0.7, 0.9])
def test_waits_are_those_of_m_d_1(load: float) -> None:
    """Pollaczek and Khinchine: fixed service of 1 s waits load / (2 (1 - load)) on average."""
    found = simulate_open(
        {"one": 1}, [Visit(station="one", seconds=1.0)], arrivals_per_second=load, seconds=60_000, warm_up=2_000
    )
    station = found.stations["one"]
    assert station.utilisation == pytest.approx(load, rel=0.03)
    assert station.mean_wait == pytest.approx(load / (2 * (1 - load)), rel=0.12)


def test_waits_are_those_of_m_m_2() -> None:
    """Erlang C: two servers at 0.75 of their capacity wait 0.75^2 / (1 - 0.75^2) service times."""
    visit = Visit(station="two", seconds=1.0, exponential=True)
    found = simulate_open({"two": 2}, [visit], arrivals_per_second=1.5, seconds=60_000, warm_up=2_000)
    assert found.stations["two"].mean_wait == pytest.approx(0.5625 / (1 - 0.5625), rel=0.1)


@pytest.mark.parametrize(("customers", "rate"), [(1, 1 / 12), (3, 3 / 12), (6, 0.5), (60, 0.5)])
def test_a_closed_network_is_bound_by_its_customers_then_by_its_slowest_station(customers: int, rate: float) -> None:
    """Fixed times: min(N / D, 1 / D_max), here with 10 s of delay and 2 s at one server."""
    visits = [Visit(station="delay", seconds=10.0), Visit(station="one", seconds=2.0)]
    found = simulate_closed({"delay": math.inf, "one": 1}, visits, customers=customers, seconds=6_000, warm_up=600)
    assert found.rate == pytest.approx(rate, rel=0.02)
    assert found.stations["one"].utilisation == pytest.approx(2 * rate, rel=0.02)
    assert found.round_seconds == pytest.approx(customers / rate, rel=0.03), "Little's law"


def test_a_closed_network_is_that_of_mean_value_analysis() -> None:
    """Two exponential stations of 1 s and 2 s with 4 customers: the rate by mean value analysis is 15/31."""
    queues, rate = [0.0, 0.0], 0.0
    for customers in range(1, 5):
        waits = [service * (1 + queue) for service, queue in zip((1.0, 2.0), queues, strict=True)]
        rate = customers / sum(waits)
        queues = [rate * wait for wait in waits]
    visits = [Visit(station="a", seconds=1.0, exponential=True), Visit(station="b", seconds=2.0, exponential=True)]
    found = simulate_closed({"a": 1, "b": 1}, visits, customers=4, seconds=60_000, warm_up=1_000)
    assert rate == pytest.approx(15 / 31)
    assert found.rate == pytest.approx(rate, rel=0.03)


def test_equal_seeds_give_equal_runs() -> None:
    visits = [Visit(station="one", seconds=1.0, exponential=True)]
    runs = [simulate_closed({"one": 2}, visits, customers=3, seconds=100, seed=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_costs_grow_along_a_line_that_ends_at_64_opponents() -> None:
    found = costs_at(200, SMALL, LARGE, actions=20.0)
    assert found.cpu_seconds["postgres"] == pytest.approx(0.26 + 160 * 0.005), "with all players of the league"
    assert found.cpu_seconds["actors"] == pytest.approx(0.18 + 24 * 0.0025), "with the opponents of a plan"
    assert costs_at(8, SMALL, LARGE, actions=20.0).cpu_seconds == pytest.approx({"postgres": 0.1, "actors": 0.1})
    assert costs_at(2, SMALL, LARGE, actions=20.0).cpu_seconds["postgres"] == pytest.approx(0.1), "never below"


def test_slots_are_the_limit_of_few_nodes_and_the_store_worker_of_many() -> None:
    large = Cluster(nodes=1_000, commit_seconds=0.0002)
    few, many = row(1_000, Cluster(nodes=2), COSTS), row(4_000, large, COSTS)
    assert few["limit"] == "training slots" and few["generations_per_second"] == pytest.approx(16 / 30, rel=0.1)
    full = limits(large, COSTS)
    assert min(full, key=lambda name: full[name]["generations_per_second"]) == many["limit"] == "artifacts"
    wide = replace(large, artifact_bytes_per_second=1e12)
    assert row(4_000, wide, COSTS)["limit"] == "store worker"
    assert limits(wide, COSTS)["store worker"]["generations_per_second"] == 100.0, "4 cores by 0.04 s"


def test_a_slow_disk_is_the_limit_of_commits() -> None:
    slow = Cluster(nodes=1_000, commit_seconds=0.01)
    assert row(4_000, slow, COSTS)["limit"] == "disk of Postgres"
    assert limits(slow, COSTS)["disk of Postgres"]["commits_per_second"] == pytest.approx(100.0)


def test_the_work_of_the_store_is_divided_by_what_its_activities_took() -> None:
    shares = store_shares(
        {
            "plan_generation": {"count": 40, "median_run_s": 0.03},
            "record_generation": {"count": 20, "median_run_s": 0.14},
            "train_generation": {"count": 40, "median_run_s": 30.0},
        }
    )
    assert shares == pytest.approx({"plan_generation": 0.3, "record_generation": 0.7})
    costs = replace(COSTS, store=shares)
    work = [visit.seconds for visit in visits(Cluster(nodes=1), costs) if visit.station == "store worker"]
    assert work == pytest.approx([0.3 * 0.04, 0.7 * 0.04])
    assert limits(Cluster(nodes=1), costs)["Postgres"] == limits(Cluster(nodes=1), COSTS)["Postgres"]


def test_one_machine_does_what_its_cores_allow() -> None:
    found = one_machine(50, COSTS, cores=1.6)
    assert found["generations_per_second"] == pytest.approx(1.6 / 0.08, rel=0.02)
    assert found["commits_per_second"] == pytest.approx(12 * found["generations_per_second"])


def test_the_error_is_a_share_of_what_was_seen() -> None:
    seen = replace(LARGE, generations=50)
    told = {"generations_per_second": 2.0, "commits_per_second": 6.0, "cores": 0.88, "cpu_seconds_per_generation": 0.44}
    assert error(told, seen) == {
        "generations_per_second": 1.0, "commits_per_second": -0.5, "cores": 0.0, "cpu_seconds_per_generation": -0.5
    }  # fmt: skip


def test_the_page_states_what_is_recorded() -> None:
    recorded = read_results(page.FILE)
    assert page.PAGE.read_text(encoding="utf-8") == page.text(recorded), "run python -m benchmarks.growth --simulate"


def test_the_prediction_was_written_before_the_run_and_follows_from_the_costs() -> None:
    recorded = read_results(page.FILE)
    assert recorded["measured"]["at"] <= recorded["prediction"]["at"]
    again = predict(recorded["measured"])
    assert {**again, "at": ""} == {**recorded["prediction"], "at": ""}
    if "run" not in recorded:
        assert "simulation is unchecked" in page.text(recorded), "the page says so"
        return
    assert recorded["prediction"]["at"] <= recorded["run"]["at"]
    assert error(recorded["prediction"], Sample.from_json(recorded["run"])) == recorded["error"]


def test_the_limits_follow_from_the_recorded_costs() -> None:
    recorded = read_results(page.FILE)
    small = {**recorded, "growth": []}
    assert grow(small)["limits"] == recorded["limits"]
