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
SELECT seat, swapped, coalesce(moves[1:opened], '{}') AS opening, result, count(*) AS games
FROM (
    SELECT seat, false AS swapped, moves, result, coalesce((opening->>'plies')::int, 0) AS opened
    FROM matches WHERE version_id = :version_id AND opponent_version_id = :opponent_version_id
    UNION ALL
    SELECT seat, true, moves, result, coalesce((opening->>'plies')::int, 0)
    FROM matches WHERE version_id = :opponent_version_id AND opponent_version_id = :version_id
) AS either
GROUP BY seat, swapped, coalesce(moves[1:opened], '{}'), result
"""
)
_SWAPPED = {MatchResult.WIN: MatchResult.LOSS, MatchResult.LOSS: MatchResult.WIN, MatchResult.DRAW: MatchResult.DRAW}


def head_to_head(session: Session, version_id: str, opponent_version_id: str) -> Record:
    """Every recorded game of the two, on either side, from the view of `version_id`."""
    named = {"version_id": version_id, "opponent_version_id": opponent_version_id}
    total: Counter[MatchResult] = Counter()
    seats: dict[int, Counter[MatchResult]] = {}
    openings: dict[tuple[int, ...], Counter[MatchResult]] = {}
    for group in read_records(session, _GROUPED, named):
        result = MatchResult(group["result"])
        own = _SWAPPED[result] if group["swapped"] else result
        seat = 1 - group["seat"] if group["swapped"] and group["seat"] < 2 else group["seat"]
        for counts in (
            total,
            seats.setdefault(seat, Counter()),
            openings.setdefault(tuple(group["opening"]), Counter()),
        ):
            counts[own] += group["games"]
    ranked = sorted(openings.items(), key=lambda each: (-each[1].total(), each[0]))[:MOST_OPENINGS]
    return {
        **named,
        "total": _score(total),
        "seats": [{"seat": seat, **_score(seats[seat])} for seat in sorted(seats)],
        "openings": [{"opening": list(opening), **_score(counts)} for opening, counts in ranked],
    }


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
