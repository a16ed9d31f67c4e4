"""Cycles among players, as in rock-paper-scissors: a beats b, b beats c, c beats a."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from league.errors import InvalidInput
from league.validation import Floats, square_matrix, whole_count


@dataclass(frozen=True)
class Cycle:
    """Three players, each of which beats the next, and their win rates."""

    players: tuple[Any, Any, Any]
    win_rates: tuple[float, float, float]
    strength: float
    """How far the smallest of the win rates is above one half: a cycle is as strong as its weakest link."""


def strongest_cycles(names: Sequence[Any], win_rates: ArrayLike, limit: int = 10) -> tuple[Cycle, ...]:
    """The `limit` strongest cycles, by the weakest link, then by the sum of links, then by order of names.

    With lower confidence bounds instead of win rates, only cycles of significant links are found.
    """
    rates = square_matrix(win_rates, "win rates")
    if len(names) != len(rates):
        raise InvalidInput(f"{len(names)} names for {len(rates)} rows of win rates")
    if ((rates < 0) | (rates > 1)).any():
        raise InvalidInput("win rates must lie between 0 and 1")
    whole_count(limit, "limit")
    links = rates - 0.5
    np.fill_diagonal(links, 0.0)
    found: list[tuple[float, float, int, int, int]] = []
    for first in range(len(rates)):
        found.extend(_cycles_from(first, links, limit))
        found = sorted(found, key=lambda cycle: (-cycle[0], -cycle[1], *cycle[2:]))[:limit]
    return tuple(
        Cycle(
            (names[a], names[b], names[c]),
            (float(rates[a, b]), float(rates[b, c]), float(rates[c, a])),
            strength,
        )
        for strength, _, a, b, c in found
    )


def _cycles_from(first: int, links: Floats, limit: int) -> list[tuple[float, float, int, int, int]]:
    """The best cycles whose earliest player is `first`: every cycle is found once, from there."""
    beaten = np.flatnonzero(links[first, first + 1 :] > 0) + first + 1
    beaters = np.flatnonzero(links[first + 1 :, first] > 0) + first + 1
    if not beaten.size or not beaters.size:
        return []
    middle = links[np.ix_(beaten, beaters)]
    weakest = np.minimum(np.minimum(links[first, beaten][:, None], middle), links[beaters, first][None, :])
    total = links[first, beaten][:, None] + middle + links[beaters, first][None, :]
    rows, columns = np.nonzero(weakest > 0)
    order = np.lexsort((columns, rows, -total[rows, columns], -weakest[rows, columns]))[:limit]
    return [
        (float(weakest[i, j]), float(total[i, j]), first, int(beaten[i]), int(beaters[j]))
        for i, j in zip(rows[order].tolist(), columns[order].tolist(), strict=True)
    ]
