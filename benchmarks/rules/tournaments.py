"""Tournaments against known truth: order and interval coverage of graded bots, and games saved by adaptive pairing."""

from __future__ import annotations

import argparse
import json
import tempfile
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.rules.league import adaptive_saving
from league.ratings import Ratings, bradley_terry
from league.tournaments import Result, next_pairings
from league.tournaments.adaptive import tallies_of
from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from workers.bots.minimax import value
from workers.games.builtin.tic_tac_toe import HAS_LINE
from workers.matches.play import play_match
from workers.matches.task import Entrant, MatchTask, Randomness

SKILLS = tuple(round(1 - share / 10, 1) for share in range(10))
"""Minimax with a share p = 0, 0.1 .. 0.9 of random moves."""
OPENING = 2
FULL = 0b111_111_111
MANY = 10**9


def exact_scores(first: float, second: float) -> tuple[float, float, float]:
    """Chances of win, draw and loss of two skills over both seats, by enumeration of every game."""
    as_first = _outcomes(0, 0, first, second, 0)
    as_second = _outcomes(0, 0, second, first, 0)
    return tuple((a + b) / 2 for a, b in zip(as_first, as_second[::-1], strict=True))  # type: ignore[return-value]


@cache
def _outcomes(mine: int, theirs: int, mover: float, other: float, ply: int) -> tuple[float, float, float]:
    """Outcome probabilities for seat 0; the mover has skill `mine`, and the first plies are random."""
    if HAS_LINE[theirs]:  # the last mover has won; seat 0 moves at even plies
        return (0.0, 0.0, 1.0) if ply % 2 == 0 else (1.0, 0.0, 0.0)
    if mine | theirs == FULL:
        return 0.0, 1.0, 0.0
    skill = 0.0 if ply < OPENING else mover
    free = [cell for cell in range(9) if not (mine | theirs) >> cell & 1]
    best = [cell for cell in free if -value(theirs, mine | 1 << cell) == value(mine, theirs)]
    total = np.zeros(3)
    for cell in free:
        chance = (1 - skill) / len(free) + (skill / len(best) if cell in best else 0.0)
        if chance:
            total += chance * np.array(_outcomes(theirs, mine | 1 << cell, other, mover, ply + 1))
    return float(total[0]), float(total[1]), float(total[2])


def true_ratings() -> Ratings:
    """Bradley-Terry ratings of infinitely many games of every pair: the true values that finite fits estimate."""
    tallies = {}
    for a, b in combinations(range(len(SKILLS)), 2):
        won, drawn, lost = exact_scores(SKILLS[a], SKILLS[b])
        tallies[str(a), str(b)] = round(MANY * won), round(MANY * drawn), round(MANY * lost)
    return bradley_terry([str(each) for each in range(len(SKILLS))], tallies)


def held(format_: str, seed: int, games: int, artifacts: ArtifactStore) -> list[Result]:
    """Play one tournament of real games by the league's rules."""
    names = [str(each) for each in range(len(SKILLS))]
    results: list[Result] = []
    while left := next_pairings(format_, names, results, {"games": games}):
        for pairing in left:
            task = MatchTask(
                game=Component(id="tic_tac_toe"),
                entrants=tuple(_entrant(name) for name in (pairing.first, pairing.second)),
                pairs=games // 2,
                seed=abs(hash((seed, pairing.round, pairing.index))),
                randomness=Randomness(opening_plies=OPENING),
            )
            scores = [game.score(0) for game in play_match(task, store=artifacts).games]
            wins, draws = scores.count(1.0), scores.count(0.5)
            results.append(Result(pairing=pairing, wins=wins, draws=draws, losses=games - wins - draws))
    return results


def _entrant(name: str) -> Entrant:
    return Entrant(id=name, bot=f"minimax-{SKILLS[int(name)]:.1f}")  # type: ignore[arg-type]


def truth(tournaments: int, games: int) -> dict[str, Any]:
    """How often intervals of differences hold the exact value, and whether the order is right."""
    exact = true_ratings()
    names = exact.names
    inside = right = 0
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(tournaments):
            ratings = bradley_terry(names, tallies_of(held("round_robin", seed, games, ArtifactStore(folder))))
            order = sorted(names, key=lambda name: -ratings.elo(name))
            right += order == sorted(names, key=lambda name: -exact.elo(name))
            for a, b in combinations(names, 2):
                elo = exact.elo(a) - exact.elo(b)
                measured, low, high = ratings.difference(a, b)
                inside += low <= elo <= high
                worst = max(worst, abs(measured - elo))
    pairs = tournaments * len(names) * (len(names) - 1) // 2
    return {
        "tournaments": tournaments,
        "games_a_pairing": games,
        "exact_elo": {f"{SKILLS[int(name)]:.1f}": round(exact.elo(name) - exact.elo(names[-1]), 1) for name in names},
        "right_order": right,
        "coverage": inside / pairs,
        "pairs": pairs,
        "largest_error_elo": worst,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tournaments", type=int, default=10, help="round robins of ten bots")
    parser.add_argument("--games", type=int, default=400, help="games of each pairing")
    parser.add_argument("--leagues", type=int, default=5, help="simulated tournaments per spread, each its own seed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    report: dict[str, Any] = {"truth": truth(arguments.tournaments, arguments.games)}
    report |= {
        f"adaptive_{spread}_elo": adaptive_saving(arguments.leagues, spread=float(spread)) for spread in (1500, 800, 0)
    }
    if arguments.json:
        print(json.dumps(report))
        return
    known = report["truth"]
    print(f"right order           {known['right_order']} of {known['tournaments']} tournaments")
    print(f"95 % intervals hold   {known['coverage']:.1%} of {known['pairs']} exact differences")
    print(f"largest error         {known['largest_error_elo']:.1f} Elo")
    for spread in (1500, 800, 0):
        saving = report[f"adaptive_{spread}_elo"]
        print(
            f"adaptive, {spread:4} Elo    {saving['mean_saving']:.1%} fewer games (least {saving['least_saving']:.1%})"
        )


if __name__ == "__main__":
    main()
