"""Games of more than two seats as pairwise results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from league.errors import InvalidInput
from league.types import PlayerId


@dataclass(frozen=True, kw_only=True)
class PairResult:
    """The result between two seats of one game, from the first one's view."""

    player: PlayerId
    opponent: PlayerId
    seat: int
    opponent_seat: int
    wins: int
    draws: int
    losses: int


def pairwise_by_order(players: Sequence[PlayerId], order: Sequence[int]) -> tuple[PairResult, ...]:
    """One game of n seats as n(n-1)/2 results: `order` is each seat's final place, equal places a draw.

    Two seats of the same player are its own self-play and give no result.
    """
    if len(players) != len(order):
        raise InvalidInput(f"{len(players)} players but {len(order)} places")
    results = []
    for seat, player in enumerate(players):
        for other in range(seat + 1, len(players)):
            if players[other] == player:
                continue
            results.append(
                PairResult(
                    player=player,
                    opponent=players[other],
                    seat=seat,
                    opponent_seat=other,
                    wins=int(order[seat] < order[other]),
                    draws=int(order[seat] == order[other]),
                    losses=int(order[seat] > order[other]),
                )
            )
    return tuple(results)
