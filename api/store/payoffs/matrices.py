"""The payoff as matrices: read as whole columns and computed in numpy, since 300 players have 90,000 cells."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from api.store.core.arrays import read_arrays
from api.store.tables import Player, Trial
from league.types import Stream
from league.validation import Floats

Indices = np.ndarray[Any, np.dtype[np.int64]]

_CELLS = """
SELECT player_id, array_agg(opponent_id), array_agg(seat), array_agg(opponent_seat),
       array_agg(wins), array_agg(draws), array_agg(losses),
       array_agg(raw_wins), array_agg(raw_draws), array_agg(raw_losses),
       array_agg(coalesce(returns, 'NaN'))
FROM payoffs WHERE trial_id = %(trial)s AND stream = ANY(%(streams)s) GROUP BY player_id
"""
Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution, for intervals of 95 %."""


@dataclass(frozen=True, kw_only=True)
class PayoffMatrices:
    """Row against column: raw wins, draws and losses, the decayed win rate and its interval, the mean return.

    The win rate is NaN where the two never met, and 0.5 with the interval (0, 1) below `min_games`. The mean return
    is NaN where they never met, or where games were counted without their returns.
    """

    players: Sequence[Row[str, str, str, str]]
    wins: Floats
    draws: Floats
    losses: Floats
    win_rates: Floats
    low: Floats
    high: Floats
    mean_returns: Floats


def payoff_matrices(
    session: Session, trial_id: str, streams: Sequence[Stream], *, decay: float, min_games: int
) -> PayoffMatrices:
    """The payoff of a trial, the given streams added up, by the rules of `league.payoff`."""
    players = session.execute(
        select(Player.id, Player.name, Player.role, Player.status)
        .where(Player.trial_id == trial_id)
        .order_by(Player.created_commit, Player.name)
    ).all()
    place = {row[0]: index for index, row in enumerate(players)}
    size = len(players)
    cells = _columns(session, trial_id, streams, place)
    pair = cells.player * size + cells.opponent
    games = cells.raw.sum(0)

    def per_pair(values: Floats) -> Floats:
        sums: Floats = np.bincount(pair, weights=values, minlength=size * size).astype(np.float64)
        return sums.reshape(size, size)

    seatings, played = per_pair(np.ones(len(pair))), per_pair(games)
    weight = cells.decayed.sum(0)
    rates = (cells.decayed[0] + cells.decayed[1] / 2) / np.where(weight > 0, weight, 1)
    returns = cells.returns / np.where(weight > 0, weight, 1)
    met, known = played > 0, played >= max(min_games, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(known, per_pair(rates) / seatings, np.where(met, 0.5, np.nan))
        effective = seatings**2 / per_pair(1 / np.where(games > 0, _effective(games, decay), 1))
        low, high = _wilson(rate, np.where(known, effective, 0))
        mean_returns = np.where(met, per_pair(returns) / seatings, np.nan)
    wins, draws, losses = (per_pair(counts) for counts in cells.raw)
    return PayoffMatrices(
        players=players,
        wins=wins,
        draws=draws,
        losses=losses,
        win_rates=rate,
        low=low,
        high=high,
        mean_returns=mean_returns,
    )


@dataclass(frozen=True)
class _Columns:
    player: Indices
    opponent: Indices
    decayed: Floats
    raw: Floats
    returns: Floats


def _columns(session: Session, trial_id: str, streams: Sequence[Stream], place: dict[str, int]) -> _Columns:
    """One cell for each pair and seating, the streams added up."""
    rows = read_arrays(session, _CELLS, {"trial": trial_id, "streams": [stream.value for stream in streams]})
    if not rows:
        empty = np.zeros(0, np.int64)
        return _Columns(empty, empty, np.zeros((3, 0)), np.zeros((3, 0)), np.zeros(0))
    ids = np.array([uuid.UUID(player).bytes for player in place])
    order = np.argsort(ids)

    def placed(found: np.ndarray[Any, Any]) -> Indices:
        positions: Indices = order[np.searchsorted(ids, found, sorter=order)]
        return positions

    player = np.repeat(placed(np.array([row[0].bytes for row in rows])), [len(row[1]) for row in rows])
    columns = [np.concatenate([row[index] for row in rows]) for index in range(1, 11)]
    opponent, seat, opponent_seat, *numbers = placed(columns[0]), *columns[1:]
    # the same seating in two streams is one cell
    seats = int(max(seat.max(), opponent_seat.max())) + 1
    key = ((player * len(ids) + opponent) * seats + seat) * seats + opponent_seat
    _, first, cell = np.unique(key, return_index=True, return_inverse=True)
    summed = np.stack([np.bincount(cell, weights=values).astype(np.float64) for values in numbers])
    return _Columns(player[first], opponent[first], summed[:3], summed[3:6], summed[6])


def _effective(games: Floats, decay: float) -> Floats:
    """`league.payoff.effective_games`, for many cells at once."""
    if decay == 1:
        return games
    exponent = games * np.log1p(decay - 1)
    effective: Floats = (1 + decay) / (1 - decay) * -np.expm1(exponent) / (1 + np.exp(exponent))
    return effective


def _wilson(rate: Floats, games: Floats) -> tuple[Floats, Floats]:
    """`league.payoff.wilson` at 95 %, for many cells at once."""
    sure = np.where(games > 0, games, 1)
    shrink = 1 / (1 + Z95 * Z95 / sure)
    centre = (rate + Z95 * Z95 / (2 * sure)) * shrink
    half = Z95 * np.sqrt(rate * (1 - rate) / sure + (Z95 / (2 * sure)) ** 2) * shrink
    low = np.where(games > 0, np.maximum(0.0, centre - half), 0.0)
    high = np.where(games > 0, np.minimum(1.0, centre + half), 1.0)
    return np.where(np.isnan(rate), np.nan, low), np.where(np.isnan(rate), np.nan, high)


def payoff_state(session: Session, trial_id: str) -> Row[int, int, float, dict[str, object]] | None:
    """Newest commit, the commit that last changed the payoff, decay and spec of a trial."""
    return session.execute(
        select(Trial.last_commit, Trial.payoff_revision, Trial.payoff_decay, Trial.spec).where(Trial.id == trial_id)
    ).one_or_none()
