"""Adaptive: the next pair is the one whose games narrow the ratings' intervals most.

See docs/decisions/tournaments.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from league.errors import InvalidInput
from league.ratings import bradley_terry
from league.ratings.fitted_ratings import ELO_PER_NAT
from league.ratings.game_graph import Edges, edges_from
from league.ratings.maximum_likelihood import laplacian, maximum_likelihood
from league.tournaments.pairing import Pairing, Result, outstanding, seated
from league.validation import Floats, finite, options_from, whole_count

PRIOR_GAMES: Final = 1.0
"""The prior while choosing pairs: each entrant has drawn one game with a fixed opponent. Reported ratings have none."""

Z95: Final = 1.959963984540054


@dataclass(frozen=True, kw_only=True)
class AdaptiveOptions:
    """Games of one pairing, pairings of one round (half the entrants unless given), and when to stop."""

    games: int = 2
    rounds: int = 50
    pairings_per_round: int | None = None
    target_width: float | None = None
    """Stop once the mean 95 % interval of all differences is at most this wide, in Elo."""
    absent: Sequence[str] = field(default_factory=tuple)
    """Withdrawn entrants: they are no longer paired."""

    def __post_init__(self) -> None:
        for name in ("games", "rounds", "pairings_per_round"):
            value = getattr(self, name)
            if value is not None and whole_count(value, name) < 1:
                raise InvalidInput(f"{name} must be at least 1")
        if self.target_width is not None and finite(self.target_width, "target_width") <= 0:
            raise InvalidInput("target_width must be positive")


def adaptive(
    entrants: tuple[str, ...], results: dict[tuple[int, int], Result], options: Mapping[str, Any]
) -> tuple[Pairing, ...]:
    """The outstanding pairings of the first unfinished round; a round depends only on the rounds before it."""
    chosen = options_from(AdaptiveOptions, options, "adaptive")
    per_round = chosen.pairings_per_round or len(entrants) // 2
    # a fully recorded round was planned by this rule; only the first incomplete one is planned here
    number = 0
    while number < chosen.rounds and all((number, index) in results for index in range(per_round)):
        number += 1
    past = [result for result in results.values() if result.pairing.round < number]
    present = [name for name in entrants if name not in chosen.absent]
    if number == chosen.rounds or len(present) < 2 or _narrow_enough(present, past, chosen.target_width):
        return ()
    return outstanding(_round(number, entrants, present, past, chosen, per_round), results)


def mean_width(entrants: Iterable[str], results: Iterable[Result]) -> float:
    """The mean width in Elo of the 95 % intervals of all differences."""
    ratings = bradley_terry(entrants, tallies_of(results))
    variances = _difference_variances(ratings.covariance)
    upper = np.triu_indices(len(variances), 1)
    return float(2 * Z95 * ELO_PER_NAT * np.sqrt(np.maximum(variances[upper], 0)).mean())


def tallies_of(results: Iterable[Result]) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Results as tallies for Bradley-Terry; byes and walkovers have no games."""
    tallies: dict[tuple[str, str], tuple[int, int, int]] = {}
    for result in results:
        if result.was_played:
            pair = (result.pairing.first, result.pairing.second)
            wins, draws, losses = tallies.get(pair, (0, 0, 0))
            tallies[pair] = (wins + result.wins, draws + result.draws, losses + result.losses)
    return tallies


def _narrow_enough(present: Sequence[str], past: list[Result], target: float | None) -> bool:
    names = set(present)
    between = [each for each in past if {each.pairing.first, each.pairing.second} <= names]
    return target is not None and bool(between) and mean_width(present, between) <= target


def _round(
    number: int,
    entrants: tuple[str, ...],
    present: Sequence[str],
    past: list[Result],
    chosen: AdaptiveOptions,
    per_round: int,
) -> list[Pairing]:
    games = chosen.games
    theta, covariance = _beliefs(entrants, past)
    gaps = theta[:, None] - theta[None, :]
    information = games / (2 + 2 * np.cosh(np.clip(gaps, -700, 700)))
    away = [place for place, name in enumerate(entrants) if name not in present]
    first_seats: dict[str, int] = {}
    for result in past:
        first_seats[result.pairing.first] = first_seats.get(result.pairing.first, 0) + 1
    pairings = []
    for index in range(per_round):
        gains = _gains(covariance, information)
        gains[away, :] = gains[:, away] = -1.0
        a, b = np.unravel_index(int(np.argmax(gains)), gaps.shape)
        first, second = seated(entrants[int(a)], entrants[int(b)], first_seats)
        pairings.append(Pairing(round=number, index=index, first=first, second=second, games=games))
        covariance = _after_games(covariance, int(a), int(b), float(information[a, b]))
    return pairings


def _beliefs(entrants: tuple[str, ...], past: list[Result]) -> tuple[Floats, Floats]:
    """Strengths and their covariance, with a prior game that keeps both finite from the start."""
    count = len(entrants)
    played = edges_from(entrants, tallies_of(past))
    drawn = np.full(count, PRIOR_GAMES)
    nothing = np.zeros(count)
    edges = Edges(
        np.concatenate([played.first, np.arange(count)]),
        np.concatenate([played.second, np.full(count, count)]),
        np.concatenate([played.wins, nothing]),
        np.concatenate([played.draws, drawn]),
        np.concatenate([played.losses, nothing]),
        np.zeros(played.first.size + count),
    )
    theta = maximum_likelihood(count + 1, edges)
    precision = laplacian(count + 1, edges, edges.information(theta))[:count, :count]
    return theta[:count] - theta[count], np.asarray(np.linalg.inv(precision))


def _gains(covariance: Floats, information: Floats) -> Floats:
    """The first-order decrease of the sum of all differences' standard errors, for a batch of each pair.

    Games of k against l take (C d d'C) v / (1 + v d'C d) off C, with d = e_k - e_l; a difference's error falls
    by its variance's fall over twice that error. Summed over all differences this is a quadratic form in d.
    """
    variances = _difference_variances(covariance)
    errors = np.sqrt(np.maximum(variances, 1e-12))
    weights = 1 / errors
    np.fill_diagonal(weights, 0.0)
    form = covariance @ (np.diag(weights.sum(axis=1)) - weights) @ covariance
    gains = _difference_variances(form) * information / (1 + information * variances)
    gains[np.tril_indices(len(gains))] = -1.0
    return np.asarray(gains)


def _after_games(covariance: Floats, a: int, b: int, information: float) -> Floats:
    column = covariance[:, a] - covariance[:, b]
    return np.asarray(covariance - np.outer(column, column) * information / (1 + information * (column[a] - column[b])))


def _difference_variances(covariance: Floats) -> Floats:
    diagonal = np.diag(covariance)
    return np.asarray(diagonal[:, None] + diagonal[None, :] - 2 * covariance)
