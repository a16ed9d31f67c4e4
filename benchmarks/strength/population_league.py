"""A connect-four league whose mains copy each other, beside the same league without, judged by a round robin."""

from __future__ import annotations

import math
import tempfile
from itertools import combinations
from typing import Any

import numpy as np

from lanista.training.run import Run, train
from league.ratings import bradley_terry
from league.ratings.fitted_ratings import ELO_PER_NAT, Ratings
from league.seeds import derived_seed
from league.types import VersionId
from orchestrator.catalog import Component, game_opening_plies
from orchestrator.contracts.play import team_results
from orchestrator.populations import first_hyperparameters
from orchestrator.spec.reading.checking import check_spec
from orchestrator.storage.artifacts import ArtifactStore
from workers.games.names import make_game
from workers.inference.cache import PolicyCache
from workers.matches.play import play_match
from workers.matches.task import Entrant, MatchTask, Randomness

MEMBERS, GENERATIONS, STEPS, PAIRS = 4, 10, 32_768, 100
"""Members, generations of each, steps of a generation, and pairs of games between two versions of the round robin."""
RATES = (1e-5, 1e-2)
GAME = "connect_four"
Z = 1.959964


def trial_file(seed: int, rates: list[float] | None = None) -> dict[str, Any]:
    """The league with a population, or with as many mains of these fixed learning rates."""
    explore = {"learning_rate": {"initial": list(RATES), "perturb": [0.8, 1.25]}}
    exploit = {"by": "win_rate", "quantile": 0.25, "min_games": 20}
    population = {"size": MEMBERS, "every_generations": 2, "exploit": exploit, "explore": explore}
    fixed = [
        {"name": f"fixed-{number}", "algorithm": {"id": "ppo", "learning_rate": rate}}
        for number, rate in enumerate(rates or (), 1)
    ]
    return {
        "seed": seed,
        "game": {"id": GAME},
        "model": {"id": "mlp", "hidden": [64, 64]},
        "algorithm": {"id": "ppo"},
        "league": {
            "preset": "pfsp",
            "players": [{"name": "main", "population": population}] if rates is None else fixed,
            "matchmaking": {"self_play_share": 0.5},
            "snapshot": {"min_steps": 2 * STEPS, "max_steps": 2 * STEPS, "win_rate": 1.0},
            "champion_gate": None,
        },
        "generation": {"steps": STEPS, "tables": 256},
        "evaluation": {"every_generations": 100_000},
        "budget": {"steps": STEPS * MEMBERS * GENERATIONS},
    }


def league_row(seed: int) -> dict[str, Any]:
    """Both leagues for the same steps, and the round robin between their newest versions."""
    with_copies = train(trial_file(seed), games=0).finish()
    first = first_hyperparameters(check_spec(trial_file(seed)))
    rates = [float(own["learning_rate"]) for own in first.values()]
    without = train(trial_file(seed, rates), games=0).finish()
    ratings, games = _round_robin(seed, with_copies, without)
    copied, fixed = with_copies.players, without.players
    gap, error = _difference(ratings, copied, fixed)
    best, best_fixed = (max(names, key=ratings.elo) for names in (copied, fixed))
    return {
        "steps": with_copies.generations[-1].trial_steps,
        "steps_without": without.generations[-1].trial_steps,
        "learning_rates": [float(f"{rate:.6g}") for rate in rates],
        "last_learning_rates": [
            float(f"{with_copies.league.players[name].hyperparameters['learning_rate']:.6g}") for name in copied
        ],
        "copies": sum(each.copied is not None for each in with_copies.generations),
        "population_elo": [round(ratings.elo(name), 1) for name in copied],
        "fixed_elo": [round(ratings.elo(name), 1) for name in fixed],
        "difference": round(gap, 1),
        "low": round(gap - Z * error, 1),
        "high": round(gap + Z * error, 1),
        "best": [round(value, 1) for value in ratings.difference(best, best_fixed)],
        "games": games,
    }


def _round_robin(seed: int, *runs: Run) -> tuple[Ratings, int]:
    """Bradley-Terry ratings from paired games between all newest versions of both leagues."""
    with tempfile.TemporaryDirectory() as folder:
        store = ArtifactStore(folder)
        entrants = {
            name: Entrant(id=VersionId(name), checkpoint=store.put(run.checkpoint(name), kind="checkpoint"))
            for run in runs
            for name in run.players
        }
        policies = PolicyCache(store, make_game(GAME, 1).spec)
        tallies = {
            (a, b): _match(store, policies, entrants[a], entrants[b], derived_seed(seed, a, b, "round robin"))
            for a, b in combinations(entrants, 2)
        }
    return bradley_terry(list(entrants), tallies), sum(sum(tally) for tally in tallies.values())


def _match(
    store: ArtifactStore, policies: PolicyCache, first: Entrant, second: Entrant, seed: int
) -> tuple[int, int, int]:
    """Wins, draws and losses of the first."""
    task = MatchTask(
        game=Component(id=GAME),
        entrants=(first, second),
        pairs=PAIRS,
        seed=seed,
        randomness=Randomness(opening_plies=game_opening_plies(GAME)),
    )
    margins = []
    for game in play_match(task, store=store, policies=policies).games:
        earned = {side.entrant: side.earned for side in team_results(game.seating, game.returns, game.teams)}
        margins.append(earned[0] - earned[1])
    return sum(gap > 0 for gap in margins), sum(gap == 0 for gap in margins), sum(gap < 0 for gap in margins)


def _difference(ratings: Ratings, ours: list[str], others: list[str]) -> tuple[float, float]:
    """By how much the mean of ours is above that of the others in Elo, and its standard error."""
    weights = np.array([(name in ours) / len(ours) - (name in others) / len(others) for name in ratings.names])
    gap = float(weights @ ratings.theta)
    return gap * ELO_PER_NAT, math.sqrt(float(weights @ ratings.covariance @ weights)) * ELO_PER_NAT
