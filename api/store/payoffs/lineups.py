"""Results and ratings of mixed line-ups, which are teams that a learner shared with a mate; summed by players."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from api.schemas.enums import RatingMethod
from api.store.core.records import Record, read_records
from league.payoff import wilson
from league.ratings import LineupResult, Skill, lineup_skills

NEWEST_RATED: Final = 500
"""Tallies that ratings of line-ups are made of; a tally is a line-up's games against an opponent in one generation."""

_SUMMED = text(
    """
SELECT learner.id::text AS player_id, learner.name AS player, members.ids AS lineup_ids, members.names AS lineup,
       opponent.id::text AS opponent_id, opponent.name AS opponent, tally.seat, tally.opponent_seat,
       sum(tally.games)::bigint AS games, sum(tally.wins)::bigint AS wins, sum(tally.draws)::bigint AS draws,
       sum(tally.losses)::bigint AS losses, sum(tally.returns) AS returns
FROM lineup_tallies AS tally
JOIN model_versions AS own ON own.id = tally.version_id
JOIN players AS learner ON learner.id = own.player_id
LEFT JOIN model_versions AS other ON other.id = tally.opponent_version_id
LEFT JOIN players AS opponent ON opponent.id = other.player_id
CROSS JOIN LATERAL (
    SELECT array_agg(player.id::text ORDER BY place) AS ids, array_agg(player.name ORDER BY place) AS names
    FROM unnest(tally.lineup) WITH ORDINALITY AS member (version_id, place)
    JOIN model_versions AS version ON version.id = member.version_id
    JOIN players AS player ON player.id = version.player_id
) AS members
WHERE tally.trial_id = :trial_id
GROUP BY learner.id, learner.name, members.ids, members.names, opponent.id, opponent.name, tally.seat,
         tally.opponent_seat
ORDER BY games DESC, learner.name, members.names, opponent.name, tally.seat, tally.opponent_seat
LIMIT :most OFFSET :skip
"""
)


_NEWEST = text(
    """
SELECT members.ids AS lineup, other.player_id::text AS opponent, tally.wins, tally.draws, tally.losses
FROM (
    SELECT * FROM lineup_tallies
    WHERE trial_id = :trial_id AND opponent_seat IS NOT NULL
    ORDER BY commit DESC, id DESC LIMIT :most
) AS tally
JOIN model_versions AS other ON other.id = tally.opponent_version_id
CROSS JOIN LATERAL (
    SELECT array_agg(version.player_id::text ORDER BY place) AS ids
    FROM unnest(tally.lineup) WITH ORDINALITY AS member (version_id, place)
    JOIN model_versions AS version ON version.id = member.version_id
) AS members
ORDER BY tally.commit, tally.id
"""
)


def lineup_results(session: Session, trial_id: str, *, skip: int = 0, limit: int = 50) -> list[Record]:
    """Every mixed line-up against every opponent, the most played first."""
    rows = read_records(session, _SUMMED, {"trial_id": trial_id, "most": limit, "skip": skip})
    skills = _skills(session, trial_id) if rows else {}
    return [_judged(row, skills) for row in rows]


def _skills(session: Session, trial_id: str) -> Mapping[Any, Skill]:
    """Openskill's rating of each line-up, by its players, and of each opponent, which has a whole team."""
    rows = session.connection().execute(_NEWEST, {"trial_id": trial_id, "most": NEWEST_RATED})
    return lineup_skills(
        LineupResult(lineup=tuple(lineup), opponent=opponent, wins=wins, draws=draws, losses=losses)
        for lineup, opponent, wins, draws, losses in rows
    )


def _judged(row: Record, skills: Mapping[Any, Skill]) -> Record:
    """A line-up's sums with its win rate, its mean return and the ratings."""
    returns, games = row.pop("returns"), row["games"]
    rate = None if row["opponent_seat"] is None else (row["wins"] + row["draws"] / 2) / games
    low, high = (None, None) if rate is None else wilson(rate, games)
    own, other = (
        (None, None) if rate is None else (skills.get(tuple(row["lineup_ids"])), skills.get(row["opponent_id"]))
    )
    return {
        **row,
        "win_rate": rate,
        "low": low,
        "high": high,
        "mean_return": None if returns is None else returns / games,
        "rating": None if own is None else own.mu,
        "deviation": None if own is None else own.sigma,
        "opponent_rating": None if other is None else other.mu,
        "opponent_deviation": None if other is None else other.sigma,
        "rating_method": None if own is None else RatingMethod.OPENSKILL,
    }
