"""Knock-out: a seeded bracket, byes for the best seeds, tied matches repeated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from league.errors import InvalidInput
from league.tournaments.pairing import Pairing, Result, checked_entrants, checked_results, outstanding
from league.validation import options_from, whole_count

EMPTY_SLOT: Final = -1
"""An empty slot of the bracket: its opponent advances."""

OPEN: Final = -2
"""A slot whose entrant is not decided yet."""


@dataclass(frozen=True, kw_only=True)
class KnockoutOptions:
    """Games of one batch, and the batches of a tied match before the better seed advances."""

    games: int = 2
    batches: int = 3

    def __post_init__(self) -> None:
        for name in ("games", "batches"):
            if whole_count(getattr(self, name), name) < 1:
                raise InvalidInput(f"{name} must be at least 1")


def knockout(
    entrants: tuple[str, ...], results: dict[tuple[int, int], Result], options: Mapping[str, Any]
) -> tuple[Pairing, ...]:
    """Every match of the bracket whose two entrants are known and that is not decided."""
    chosen = options_from(KnockoutOptions, options, "knockout")
    left: list[Pairing] = []
    for matches in _rounds(entrants, results, chosen):
        left.extend(pairing for match in matches for pairing in match.left)
    return tuple(left)


def knockout_placings(
    entrants: tuple[str, ...], results: dict[tuple[int, int], Result] | list[Result], options: Mapping[str, Any]
) -> dict[str, int]:
    """The place of every eliminated entrant, and 1 for the winner; losers of one round share a place."""
    names = checked_entrants(entrants)
    chosen = options_from(KnockoutOptions, options, "knockout")
    given = results.values() if isinstance(results, dict) else results
    places: dict[str, int] = {}
    winner = OPEN
    for matches in _rounds(names, checked_results(given, names), chosen):
        for match in matches:
            winner = match.winner
            if winner >= 0 and match.loser >= 0:
                places[names[match.loser]] = len(matches) + 1
    if winner >= 0:
        places[names[winner]] = 1
    return places


def bracket(count: int) -> list[int]:
    """Seeds in bracket order, such that the best meet last; slots of seeds above `count` are empty."""
    order = [0]
    while len(order) < count:
        order = [seed for pair in ((s, 2 * len(order) - 1 - s) for s in order) for seed in pair]
    return [seed if seed < count else EMPTY_SLOT for seed in order]


@dataclass(frozen=True, kw_only=True)
class _Match:
    winner: int
    loser: int
    left: tuple[Pairing, ...] = ()


def _rounds(
    entrants: tuple[str, ...], results: dict[tuple[int, int], Result], options: KnockoutOptions
) -> list[list[_Match]]:
    slots = bracket(len(entrants))
    rounds: list[list[_Match]] = []
    while len(slots) > 1:
        number, size = len(rounds), len(slots) // 2
        matches = [
            _match(number, index, size, slots[2 * index], slots[2 * index + 1], entrants, results, options)
            for index in range(size)
        ]
        rounds.append(matches)
        slots = [match.winner for match in matches]
    return rounds


def _match(
    number: int,
    index: int,
    size: int,
    a: int,
    b: int,
    entrants: tuple[str, ...],
    results: dict[tuple[int, int], Result],
    options: KnockoutOptions,
) -> _Match:
    """One match: batches are played until one side leads; the first seat alternates with each batch."""
    if OPEN in (a, b):
        return _Match(winner=OPEN, loser=OPEN)
    if EMPTY_SLOT in (a, b):
        return _Match(winner=max(a, b), loser=EMPTY_SLOT)
    better, worse = min(a, b), max(a, b)
    for batch in range(options.batches):
        first, second = (better, worse) if (number + batch) % 2 == 0 else (worse, better)
        pairing = Pairing(
            round=number,
            index=index + batch * size,
            first=entrants[first],
            second=entrants[second],
            games=options.games,
        )
        left = outstanding([pairing], results)
        if left:
            return _Match(winner=OPEN, loser=OPEN, left=left)
        lead = results[pairing.key].wins - results[pairing.key].losses
        if lead:
            return _Match(winner=first if lead > 0 else second, loser=second if lead > 0 else first)
    return _Match(winner=better, loser=worse)
