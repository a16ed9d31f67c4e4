"""Swiss: every round pairs entrants of similar score that have not met.

See docs/decisions/tournaments.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from league.errors import InvalidInput
from league.tournaments.matching import FREE, maximum_matching
from league.tournaments.pairing import BYE, Pairing, Result, outstanding, seated
from league.validation import options_from, whole_count


@dataclass(frozen=True, kw_only=True)
class SwissOptions:
    """Games of one pairing, and the number of rounds; as many as a knock-out would need unless given."""

    games: int = 2
    rounds: int | None = None

    def __post_init__(self) -> None:
        if whole_count(self.games, "games") < 1:
            raise InvalidInput("games must be at least 1")
        if self.rounds is not None and whole_count(self.rounds, "rounds") < 1:
            raise InvalidInput("rounds must be at least 1")


def swiss(
    entrants: tuple[str, ...], results: dict[tuple[int, int], Result], options: Mapping[str, Any]
) -> tuple[Pairing, ...]:
    """The outstanding pairings of the first unfinished round; a round depends only on the rounds before it."""
    chosen = options_from(SwissOptions, options, "swiss")
    rounds = math.ceil(math.log2(len(entrants))) if chosen.rounds is None else chosen.rounds
    for number in range(rounds):
        past = [result for result in results.values() if result.pairing.round < number]
        left = outstanding(_round(number, entrants, past, chosen.games), results)
        if left:
            return left
    return ()


def _round(number: int, entrants: tuple[str, ...], past: Sequence[Result], games: int) -> list[Pairing]:
    points: Counter[str] = Counter()
    met: Counter[frozenset[str]] = Counter()
    first_seats: dict[str, int] = {}
    for result in past:
        pairing = result.pairing
        points[pairing.first] += result.score  # type: ignore[assignment]
        met[frozenset((pairing.first, pairing.second))] += 1
        if not pairing.is_bye:
            points[pairing.second] += pairing.games - result.score  # type: ignore[assignment]
            first_seats[pairing.first] = first_seats.get(pairing.first, 0) + 1
    ranked = sorted(entrants, key=lambda name: -points[name])
    table = [*ranked, BYE] if len(ranked) % 2 else ranked
    pairings: list[Pairing] = []
    for a, b in _pairs(table, points, met):
        first, second = (a, BYE) if b == BYE else seated(a, b, first_seats)
        pairings.append(Pairing(round=number, index=len(pairings), first=first, second=second, games=games))
    return pairings


def _pairs(
    table: Sequence[str], points: Mapping[str, float], met: Mapping[frozenset[str], int]
) -> list[tuple[str, str]]:
    """A maximum matching of the whole table with as few repeated pairings as possible."""
    mates = _by_score_groups(table, points, met)
    for most in count():
        if FREE not in mates:
            break
        neighbours = [
            sorted(
                (b for b in range(len(table)) if b != a and met[frozenset((table[a], table[b]))] <= most),
                key=lambda b: abs(b - a),
            )
            for a in range(len(table))
        ]
        mates = maximum_matching(neighbours, mates)
    return [(table[a], table[b]) for a, b in enumerate(mates) if a < b]


def _by_score_groups(table: Sequence[str], points: Mapping[str, float], met: Mapping[frozenset[str], int]) -> list[int]:
    """The usual pairing: in each score group the upper half meets the lower half, downfloats where needed."""
    mates = [FREE] * len(table)
    if table[-1] == BYE:
        for a in range(len(table) - 2, -1, -1):
            if not met[frozenset((table[a], BYE))]:
                mates[a], mates[-1] = len(table) - 1, a
                break
    for a in range(len(table)):
        if mates[a] != FREE or table[a] == BYE:
            continue
        open_ = [
            b
            for b in range(a + 1, len(table))
            if mates[b] == FREE and table[b] != BYE and not met[frozenset((table[a], table[b]))]
        ]
        if open_:
            group = [b for b in open_ if points[table[b]] == points[table[open_[0]]]]
            b = group[len(group) // 2]
            mates[a], mates[b] = b, a
    return mates
