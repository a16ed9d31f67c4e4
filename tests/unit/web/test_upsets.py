"""Which wins of a tournament surprise, told from its pairings alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from api.schemas.enums import PairingStatus
from api.web.reports.upsets import MOST_GAMES, _surprising_wins
from league.ratings import Ratings, bradley_terry

PLAYED, PLANNED = PairingStatus.PLAYED, PairingStatus.PLANNED


def pairing(number: int, first: int, second: int | None, wins: int, losses: int, status: PairingStatus = PLAYED) -> Any:
    return SimpleNamespace(round=0, pair=number, first=first, second=second, wins=wins, losses=losses, status=status)


def ratings(field: int) -> Ratings:
    """0 is the strongest, and so on down."""
    tallies = {(str(a), str(b)): (10 + b - a, 0, 10) for a in range(field) for b in range(a + 1, field)}
    return bradley_terry([str(number) for number in range(field)], tallies)


def test_only_wins_of_the_weaker_side_surprise_the_least_expected_first() -> None:
    pairings = [pairing(0, 0, 1, 3, 1), pairing(1, 0, 2, 3, 1), pairing(2, 2, 1, 1, 0), pairing(3, 1, 2, 4, 0)]
    found = _surprising_wins(pairings, ratings(3))
    assert found[0][0] == (2, 0)
    assert dict(found) == {(2, 0): [(0, 1)], (1, 0): [(0, 0)], (2, 1): [(0, 2)]}


def test_every_pairing_of_two_is_named_and_what_was_not_played_is_not() -> None:
    pairings = [
        pairing(0, 0, 1, 0, 1),
        pairing(1, 1, 0, 2, 0),
        pairing(2, 1, 0, 0, 0, PLANNED),
        pairing(3, 1, None, 0, 0),
    ]
    assert _surprising_wins(pairings, ratings(2)) == [((1, 0), [(0, 0), (0, 1)])]


def test_no_more_are_named_than_are_shown() -> None:
    pairings = [pairing(number, 0, number, 0, 1) for number in range(1, 20)]
    found = _surprising_wins(pairings, ratings(20))
    assert [sides for sides, _ in found] == [(number, 0) for number in range(19, 19 - MOST_GAMES, -1)]
