"""Round robin and gauntlet: formats whose pairings are all known before the first game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from league.errors import InvalidInput, UnknownPlayer
from league.tournaments.pairing import Pairing, Result, outstanding
from league.validation import options_from, whole_count


@dataclass(frozen=True, kw_only=True)
class RoundRobinOptions:
    """Games of one pairing (an even number swaps all seats), and how often everyone meets everyone."""

    games: int = 2
    cycles: int = 1

    def __post_init__(self) -> None:
        for name in ("games", "cycles"):
            if whole_count(getattr(self, name), name) < 1:
                raise InvalidInput(f"{name} must be at least 1")


@dataclass(frozen=True, kw_only=True)
class GauntletOptions(RoundRobinOptions):
    """The challengers: each plays every other entrant, and with `among_challengers` the other challengers too."""

    challengers: Sequence[str] = field(default_factory=tuple)
    among_challengers: bool = False


def round_robin(
    entrants: tuple[str, ...], results: dict[tuple[int, int], Result], options: Mapping[str, Any]
) -> tuple[Pairing, ...]:
    """Everyone against everyone by the circle method; with an odd number of entrants one sits out each round."""
    chosen = options_from(RoundRobinOptions, options, "round_robin")
    pairings = []
    for cycle in range(chosen.cycles):
        for number, pairs in enumerate(circle_rounds(len(entrants))):
            for index, (a, b) in enumerate(pairs):
                # even or odd distance decides the seat: first seats are balanced to within one game
                first, second = (a, b) if ((a + b) % 2 == 1) == (a < b) else (b, a)
                if cycle % 2:
                    first, second = second, first
                pairings.append(
                    Pairing(
                        round=cycle * rounds_of(len(entrants)) + number,
                        index=index,
                        first=entrants[first],
                        second=entrants[second],
                        games=chosen.games,
                    )
                )
    return outstanding(pairings, results)


def gauntlet(
    entrants: tuple[str, ...], results: dict[tuple[int, int], Result], options: Mapping[str, Any]
) -> tuple[Pairing, ...]:
    """Each challenger against all of the field, and each other if asked, first seats alternating."""
    chosen = options_from(GauntletOptions, options, "gauntlet")
    for name in chosen.challengers:
        if name not in entrants:
            raise UnknownPlayer(name, "the tournament's entrants")
    field_ = [name for name in entrants if name not in chosen.challengers]
    if not chosen.challengers or not field_:
        raise InvalidInput("a gauntlet needs at least one challenger and one other entrant")
    pairs = [
        (row + column, challenger, opponent)
        for row, challenger in enumerate(chosen.challengers)
        for column, opponent in enumerate(field_)
    ]
    if chosen.among_challengers:
        numbered = combinations(enumerate(chosen.challengers), 2)
        pairs += [(row + column, one, other) for (row, one), (column, other) in numbered]
    pairings = []
    for cycle in range(chosen.cycles):
        for index, (turn, a, b) in enumerate(pairs):
            first, second = (a, b) if (turn + cycle) % 2 == 0 else (b, a)
            pairings.append(Pairing(round=cycle, index=index, first=first, second=second, games=chosen.games))
    return outstanding(pairings, results)


def rounds_of(count: int) -> int:
    """Rounds in which everyone meets everyone once."""
    return count - 1 + count % 2


def circle_rounds(count: int) -> list[list[tuple[int, int]]]:
    """The circle method: rounds of disjoint pairs; one position is fixed while the others rotate."""
    table = list(range(count)) + ([-1] if count % 2 else [])
    size = len(table)
    rounds = []
    for turn in range(size - 1):
        turned = [table[0], *(table[1 + (turn + place) % (size - 1)] for place in range(size - 1))]
        pairs = [(turned[place], turned[size - 1 - place]) for place in range(size // 2)]
        rounds.append([pair for pair in pairs if -1 not in pair])
    return rounds
