"""Pairings and their results: one pairing is one fixed batch of games, recorded whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from league.errors import InvalidInput, UnknownPlayer
from league.validation import distinct_names, whole_count

BYE: Final = ""
"""The second name of a bye, which is not played; `Result.of_bye` is its result."""


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """A batch of games between two entrants; `first` takes seat 0 in the first game, then seats alternate."""

    round: int
    index: int
    first: str
    second: str
    games: int

    @property
    def key(self) -> tuple[int, int]:
        """Unique in its tournament."""
        return self.round, self.index

    @property
    def is_bye(self) -> bool:
        return self.second == BYE


@dataclass(frozen=True, kw_only=True)
class Result:
    """A pairing played out: wins, draws and losses from its first entrant's view."""

    pairing: Pairing
    wins: int
    draws: int
    losses: int
    walkover: bool = False
    """One side was withdrawn: no game was played and the other side has all points."""

    def __post_init__(self) -> None:
        counts = [whole_count(count, "a count of games") for count in (self.wins, self.draws, self.losses)]
        if sum(counts) != self.pairing.games:
            raise InvalidInput(
                f"pairing {self.pairing.key} has {self.pairing.games} games, its result {sum(counts)}: "
                "a batch is recorded whole"
            )

    @classmethod
    def of_bye(cls, pairing: Pairing) -> Result:
        """The result of a bye: all of its points, no game."""
        if not pairing.is_bye:
            raise InvalidInput(f"pairing {pairing.key} is not a bye: it has to be played")
        return cls(pairing=pairing, wins=pairing.games, draws=0, losses=0)

    @classmethod
    def of_walkover(cls, pairing: Pairing, present: str) -> Result:
        """The result where the other side was withdrawn: all points to the one that is present, no game."""
        if pairing.is_bye or present not in (pairing.first, pairing.second):
            raise InvalidInput(f"{present!r} has no opponent in pairing {pairing.key} that could be withdrawn")
        won = pairing.games if present == pairing.first else 0
        return cls(pairing=pairing, wins=won, draws=0, losses=pairing.games - won, walkover=True)

    @property
    def was_played(self) -> bool:
        """False for byes and walkovers, which have no games."""
        return not (self.pairing.is_bye or self.walkover)

    @property
    def score(self) -> float:
        """Points of the first entrant."""
        return self.wins + self.draws / 2


@dataclass(frozen=True, kw_only=True)
class GameKey:
    """One game of a tournament: its seats, and the seed that it shares with the game of swapped seats."""

    tournament: str
    round: int
    pair: int
    game: int
    seats: tuple[str, str]
    seed: int


def game_keys(tournament: str, pairing: Pairing, seed: int) -> tuple[GameKey, ...]:
    """The games of a pairing. Consecutive games form pairs with the same seed and opening, and swapped seats."""
    if pairing.is_bye:
        return ()
    keys = []
    for game in range(pairing.games):
        text = f"{seed}/{tournament}/{pairing.round}/{pairing.index}/{game // 2}"
        shared = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
        seats = (pairing.first, pairing.second) if game % 2 == 0 else (pairing.second, pairing.first)
        keys.append(
            GameKey(
                tournament=tournament,
                round=pairing.round,
                pair=pairing.index,
                game=game,
                seats=seats,
                seed=shared,
            )
        )
    return tuple(keys)


def checked_entrants(entrants: Sequence[str]) -> tuple[str, ...]:
    """At least two distinct names; their order is the seeding."""
    names = distinct_names(entrants, "entrants")
    if len(names) < 2:
        raise InvalidInput(f"a tournament needs at least two entrants, got {len(names)}")
    if BYE in names:
        raise InvalidInput("an entrant needs a name")
    return names


def checked_results(results: Iterable[Result], entrants: Sequence[str]) -> dict[tuple[int, int], Result]:
    """Results by key, sorted by round; a result that was delivered twice counts once."""
    found: dict[tuple[int, int], Result] = {}
    known = set(entrants)
    for result in results:
        for name in (result.pairing.first, result.pairing.second):
            if name not in known and name != BYE:
                raise UnknownPlayer(name, "the tournament's entrants")
        if found.setdefault(result.pairing.key, result) != result:
            raise InvalidInput(f"two different results for pairing {result.pairing.key}")
    return dict(sorted(found.items()))


def outstanding(pairings: Iterable[Pairing], results: dict[tuple[int, int], Result]) -> tuple[Pairing, ...]:
    """The pairings without a result; raises if the result under a key is of other entrants.

    A result may have more games than planned: with several seats each seed is played once for every seat.
    """
    left = []
    for pairing in pairings:
        result = results.get(pairing.key)
        if result is None:
            left.append(pairing)
        elif (result.pairing.first, result.pairing.second) != (pairing.first, pairing.second):
            raise InvalidInput(f"the result under {pairing.key} is of {result.pairing}, expected {pairing}")
    return tuple(left)


def seated(a: str, b: str, first_seats: dict[str, int]) -> tuple[str, str]:
    """The two names, first the one that had the first seat less often; counts the choice in `first_seats`."""
    first, second = (a, b) if first_seats.get(a, 0) <= first_seats.get(b, 0) else (b, a)
    first_seats[first] = first_seats.get(first, 0) + 1
    return first, second
