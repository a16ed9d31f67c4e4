"""Two versions against each other: counts by seat and opening, grouped by the database."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from api.schemas.enums import MatchResult
from api.store.core.records import Record, read_records
from league.payoff import wilson

MOST_OPENINGS: Final = 50

_GROUPED = text(
    """
SELECT seat, swapped, opening, result, count(*) AS games, min(seed) AS seed
FROM (
    SELECT seat, false AS swapped, seed, moves[1:coalesce((opening->>'plies')::int, 0)] AS opening, result
    FROM matches WHERE version_id = :version_id AND opponent_version_id = :opponent_version_id
    UNION ALL
    SELECT seat, true, seed, moves[1:coalesce((opening->>'plies')::int, 0)], result
    FROM matches WHERE version_id = :opponent_version_id AND opponent_version_id = :version_id
) AS either
GROUP BY seat, swapped, opening, result
"""
)
_SWAPPED = {MatchResult.WIN: MatchResult.LOSS, MatchResult.LOSS: MatchResult.WIN, MatchResult.DRAW: MatchResult.DRAW}


def head_to_head(session: Session, version_id: str, opponent_version_id: str) -> Record:
    """Every recorded game of the two, on either side, from the view of `version_id`."""
    named = {"version_id": version_id, "opponent_version_id": opponent_version_id}
    total: Counter[MatchResult] = Counter()
    seats: dict[int, Counter[MatchResult]] = {}
    openings: dict[tuple[int, ...], dict[int, Counter[MatchResult]]] = {}
    seeds: dict[tuple[int, ...], int] = {}
    pruned = 0
    for group in read_records(session, _GROUPED, named):
        result = MatchResult(group["result"])
        own = _SWAPPED[result] if group["swapped"] else result
        seat = 1 - group["seat"] if group["swapped"] and group["seat"] < 2 else group["seat"]
        counted = [total, seats.setdefault(seat, Counter())]
        if group["opening"] is None:
            pruned += group["games"]
        else:
            opening = tuple(group["opening"])
            seeds[opening] = min(group["seed"], seeds.get(opening, group["seed"]))
            counted.append(openings.setdefault(opening, {}).setdefault(seat, Counter()))
        for counts in counted:
            counts[own] += group["games"]
    sums = {opening: sum(by_seat.values(), Counter[MatchResult]()) for opening, by_seat in openings.items()}
    ranked = sorted(sums, key=lambda opening: (-sums[opening].total(), opening))[:MOST_OPENINGS]
    return {
        **named,
        "pruned": pruned,
        "total": _score(total),
        "seats": _by_seat(seats),
        "openings": [
            {
                "opening": list(opening),
                "seed": seeds[opening],
                "seats": _by_seat(openings[opening]),
                **_score(sums[opening]),
            }
            for opening in ranked
        ],
    }


def _by_seat(seats: dict[int, Counter[MatchResult]]) -> list[dict[str, Any]]:
    return [{"seat": seat, **_score(seats[seat])} for seat in sorted(seats)]


def _score(counts: Counter[MatchResult]) -> dict[str, Any]:
    wins, draws, losses = (counts[result] for result in (MatchResult.WIN, MatchResult.DRAW, MatchResult.LOSS))
    games = counts.total()
    rate = (wins + draws / 2) / games if games else None
    low, high = wilson(rate or 0.0, games)
    return {
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "games": games,
        "win_rate": rate,
        "low": low,
        "high": high,
    }
