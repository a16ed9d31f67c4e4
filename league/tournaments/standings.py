"""Tournament standings: points, with Buchholz and Sonneborn-Berger as tie-breaks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from league.tournaments.pairing import Result, checked_entrants, checked_results


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One line of the table, best first; `buchholz` is the points of all opponents met."""

    rank: int
    name: str
    points: float
    games: int
    wins: int
    draws: int
    losses: int
    byes: int
    buchholz: float
    sonneborn_berger: float


def standings(entrants: Sequence[str], results: Iterable[Result]) -> tuple[Standing, ...]:
    """Everyone by points, then Buchholz, then Sonneborn-Berger, then seeding.

    Points are game points; a bye or a walkover gives all points of its batch. Entrants equal in all three share a rank.
    """
    names = checked_entrants(entrants)
    played = list(checked_results(results, names).values())
    lines = {name: _Line() for name in names}
    for result in played:
        lines[result.pairing.first].add(result, result.wins, result.losses)
        if not result.pairing.is_bye:
            lines[result.pairing.second].add(result, result.losses, result.wins)
    points = {name: line.points for name, line in lines.items()}
    buchholz, berger = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    for result in played:
        if not result.was_played:
            continue
        first, second = result.pairing.first, result.pairing.second
        share = result.score / result.pairing.games
        buchholz[first] += points[second]
        buchholz[second] += points[first]
        berger[first] += share * points[second]
        berger[second] += (1 - share) * points[first]
    merit = {name: (points[name], buchholz[name], berger[name]) for name in names}
    ordered = sorted(names, key=lambda name: merit[name], reverse=True)
    return tuple(
        Standing(
            rank=1 + sum(merit[other] > merit[name] for other in names),
            name=name,
            points=points[name],
            games=lines[name].games,
            wins=lines[name].wins,
            draws=lines[name].draws,
            losses=lines[name].losses,
            byes=lines[name].byes,
            buchholz=buchholz[name],
            sonneborn_berger=berger[name],
        )
        for name in ordered
    )


def ranked_by_place(lines: Sequence[Standing], places: Mapping[str, int]) -> tuple[Standing, ...]:
    """The same lines by the places of a knock-out: how far an entrant came decides, and points only the order within.

    Entrants that are not eliminated yet share the first place.
    """
    placed = [replace(line, rank=places.get(line.name, 1)) for line in lines]
    return tuple(sorted(placed, key=lambda line: line.rank))


class _Line:
    """Sums of one entrant while the table is made."""

    def __init__(self) -> None:
        self.wins = self.draws = self.losses = self.byes = self.games = 0
        self.points = 0.0

    def add(self, result: Result, wins: int, losses: int) -> None:
        if not result.was_played:
            self.byes += wins > 0
            self.points += wins
            return
        self.wins += wins
        self.draws += result.draws
        self.losses += losses
        self.games += result.pairing.games
        self.points += wins + result.draws / 2
