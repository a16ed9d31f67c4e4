"""How fast and how good the league's rules are: `python -m benchmarks.league [--json]`.

Times are the best of several runs, because other work on the machine only ever adds to them.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from league.matchmaking import Member, Request, draw_plan, mix
from league.payoff import Payoff
from league.ratings import bradley_terry
from league.tournaments import Result, next_pairings
from league.tournaments.adaptive import mean_width
from league.types import PlayerId, Role


def best_time(work: Callable[[], object], repeats: int) -> dict[str, float]:
    """The shortest of several runs, in milliseconds by the clock and of processor time (all threads)."""
    clock, processor = [], []
    for _ in range(repeats):
        start, busy = time.perf_counter(), time.process_time()
        work()
        clock.append(1000 * (time.perf_counter() - start))
        processor.append(1000 * (time.process_time() - busy))
    return {"clock_ms": min(clock), "processor_ms": min(processor)}


def matchmaking_time(players: int = 10_000, repeats: int = 30) -> dict[str, float]:
    """One AlphaStar decision of a main, from plain values to a plan of 64 opponents."""
    rng = np.random.default_rng(1)
    payoff = Payoff()
    main, exploiter = PlayerId("main"), PlayerId("exploiter")
    roster = [Member(id=main, role=Role.MAIN), Member(id=exploiter, role=Role.MAIN_EXPLOITER)]
    for index in range(players - 2):
        name, parent = PlayerId(f"p{index}"), main if index % 3 else exploiter
        roster.append(Member(id=name, role=Role.HISTORICAL, parent=parent, created=index))
        wins = int(rng.integers(0, 21))
        payoff.update(main, name, wins, 0, 20 - wins)

    def decide() -> object:
        return draw_plan(mix("alphastar", Request(learner=main, roster=roster, payoff=payoff)), seed=3)

    return best_time(decide, repeats)


def bradley_terry_time(players: int = 1_000, games: int = 4, repeats: int = 4) -> dict[str, float]:
    """Ratings with full covariance from a complete round robin."""
    rng = np.random.default_rng(2)
    theta = rng.normal(0, 1, players)
    names = [f"p{index}" for index in range(players)]
    tallies = {}
    for i in range(players):
        wins = rng.binomial(games, 1 / (1 + np.exp(theta[i + 1 :] - theta[i]))).tolist()
        for j, won in enumerate(wins, start=i + 1):
            tallies[names[i], names[j]] = (won, 0, games - won)
    return best_time(lambda: bradley_terry(names, tallies), repeats)


def played(name: str, elos: np.ndarray, options: dict[str, Any], rng: np.random.Generator) -> list[Result]:
    """A whole tournament of players of these true strengths."""
    names = [f"p{index}" for index in range(len(elos))]
    results: list[Result] = []
    while left := next_pairings(name, names, results, options):
        for pairing in left:
            gap = elos[int(pairing.first[1:])] - elos[int(pairing.second[1:])]
            wins = int(rng.binomial(pairing.games, 1 / (1 + math.pow(10, -gap / 400))))
            results.append(Result(pairing=pairing, wins=wins, draws=0, losses=pairing.games - wins))
    return results


def adaptive_saving(leagues: int, entrants: int = 16, spread: float = 1_500, games: int = 20) -> dict[str, float]:
    """Games the adaptive format saves against a round robin for the same mean interval width."""
    rng = np.random.default_rng(3)
    names = [f"p{index}" for index in range(entrants)]
    full = entrants * (entrants - 1) // 2 * games
    savings, widths = [], []
    for _ in range(leagues):
        elos = rng.permutation(np.linspace(0, spread, entrants))
        width = mean_width(names, played("round_robin", elos, {"games": games}, rng))
        adaptive = played("adaptive", elos, {"rounds": full, "target_width": width}, rng)
        savings.append(1 - sum(result.pairing.games for result in adaptive) / full)
        widths.append(width)
    return {
        "round_robin_games": full,
        "mean_interval_width_elo": float(np.mean(widths)),
        "mean_saving": float(np.mean(savings)),
        "least_saving": float(np.min(savings)),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--leagues", type=int, default=10, help="simulated tournaments per format")
    arguments = parser.parse_args()
    report: dict[str, Any] = {
        "matchmaking_10000_players": matchmaking_time(),
        "bradley_terry_1000_players": bradley_terry_time(),
        "adaptive_16_entrants_1500_elo": adaptive_saving(arguments.leagues),
    }
    if arguments.json:
        print(json.dumps(report))
        return
    for name, label in (
        ("matchmaking_10000_players", "one decision among 10,000 players"),
        ("bradley_terry_1000_players", "Bradley-Terry of 1,000 players"),
    ):
        times = report[name]
        print(f"{label:34}  {times['clock_ms']:8.1f} ms ({times['processor_ms']:.1f} ms of processor time)")
    saving = report["adaptive_16_entrants_1500_elo"]
    print(f"games saved by adaptive pairing      {saving['mean_saving']:8.1%} (least {saving['least_saving']:.1%})")


if __name__ == "__main__":
    main()
