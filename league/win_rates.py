"""Win rates of one generation against each of its opponents, for charts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from league.types import Tally


def win_rates_by_name(tallies: Iterable[Tally], names: Mapping[str, str]) -> dict[str, float]:
    """The win rate, draws as half, against each opponent by its name: the mean over the seats it was played in.

    `names` maps versions to names; a version without one is shown by its id. Unplayed opponents have no rate.
    """
    sums: dict[str, dict[int, tuple[float, int]]] = {}
    for tally in tallies:
        seats = sums.setdefault(names.get(tally.opponent, tally.opponent), {})
        score, games = seats.get(tally.seat, (0.0, 0))
        seats[tally.seat] = (score + tally.wins + tally.draws / 2, games + tally.games)
    rates = {name: [score / games for score, games in seats.values() if games] for name, seats in sums.items()}
    return {name: sum(seats) / len(seats) for name, seats in rates.items() if seats}
