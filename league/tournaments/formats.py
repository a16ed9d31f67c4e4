"""The tournament formats by name, and `next_pairings`, which asks a format for the pairings to play now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from league.errors import UnknownRule
from league.tournaments.adaptive import adaptive
from league.tournaments.knockout import knockout
from league.tournaments.pairing import Pairing, Result, checked_entrants, checked_results
from league.tournaments.round_robin import gauntlet, round_robin
from league.tournaments.swiss import swiss


class TournamentFormat(Protocol):
    """A format: maps entrants in seeding order, results by key, and options to the pairings to play now."""

    def __call__(
        self,
        entrants: tuple[str, ...],
        results: dict[tuple[int, int], Result],
        options: Mapping[str, Any],
        /,
    ) -> tuple[Pairing, ...]:
        """Outstanding pairings that depend on no game still to be played; none when it is over."""


FORMATS: Final[dict[str, TournamentFormat]] = {
    "round_robin": round_robin,
    "gauntlet": gauntlet,
    "swiss": swiss,
    "knockout": knockout,
    "adaptive": adaptive,
}


def next_pairings(
    name: str,
    entrants: Sequence[str],
    results: Iterable[Result] = (),
    options: Mapping[str, Any] | None = None,
) -> tuple[Pairing, ...]:
    """The pairings to play now, for any order of the results; empty when the tournament is over."""
    if name not in FORMATS:
        raise UnknownRule("tournament format", name, FORMATS)
    names = checked_entrants(entrants)
    return FORMATS[name](names, checked_results(results, names), options or {})
