"""OpenAI Five's rule: mostly self-play, and past versions by a quality score that falls with each defeat."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from league.errors import InvalidInput, UnknownPlayer
from league.matchmaking.mixture import Mixture, Share
from league.matchmaking.roster import Request
from league.matchmaking.self_play import PastOptions, fallback, live_self
from league.types import PlayerId
from league.validation import Floats, between, finite, finite_array, options_from, whole_count

ETA: Final = 0.01

DEEPEST: Final = 20.0
"""The most that a quality can be below the best: otherwise 1/(N p) would grow without bound."""

Qualities = Mapping[PlayerId, float]


@dataclass(frozen=True, kw_only=True)
class OpenAiFiveOptions(PastOptions):
    """The share of games against the latest version."""

    latest_share: float = 0.8


def openai_five(request: Request) -> Mixture:
    """Self-play for most games, the rest by softmax of the snapshots' qualities; a new snapshot gets the best."""
    options = options_from(OpenAiFiveOptions, request.options, "openai_five")
    latest = between(options.latest_share, 0, 1, "latest_share")
    past = request.past(options.pool, include_bots=options.include_bots)
    if not past.size:
        return fallback(request, "openai_five", "snapshots")
    players = [request.players.ids[position] for position in past.tolist()]
    qualities = joined_qualities(request.qualities, players)
    weights = _softmax(np.array([qualities[player] for player in players]))
    shares = [
        live_self(request, latest),
        Share(branch="past_quality", positions=past, probabilities=weights * (1 - latest)),
    ]
    return Mixture.of(request, "openai_five", shares)


def joined_qualities(qualities: Qualities, players: Iterable[PlayerId]) -> dict[PlayerId, float]:
    """The qualities of these players; a player without one gets the best among them (0 if there is none).

    Retired players are not in `players`: they cannot be drawn and do not count.
    """
    pool = list(players)
    best = max((qualities[player] for player in pool if player in qualities), default=0.0)
    return {player: qualities.get(player, best) for player in pool}


def qualities_after_wins(qualities: Qualities, wins: Mapping[PlayerId, int], eta: float = ETA) -> dict[PlayerId, float]:
    """Each win of the learner against i takes eta / (N p_i) off q_i, with p as it was when they were drawn."""
    if finite(eta, "eta") < 0:
        raise InvalidInput(f"eta must not be negative, got {eta!r}")
    players = list(qualities)
    for player in wins:
        if player not in qualities:
            raise UnknownPlayer(player, "the qualities")
    values = finite_array([qualities[player] for player in players], "qualities", dimensions=1)
    if not players:
        return {}
    counts = np.array([whole_count(wins.get(player, 0), "wins") for player in players], dtype=np.float64)
    # the floor applies only below exp(-DEEPEST) of the best, where p is negligible
    chances = np.maximum(_softmax(values), math.exp(-DEEPEST) / len(players))
    lowered = values - counts * eta / (len(players) * chances)
    return dict(zip(players, np.maximum(lowered, lowered.max() - DEEPEST).tolist(), strict=True))


def replay_qualities(
    generations: Iterable[tuple[Iterable[PlayerId], Mapping[PlayerId, int]]], eta: float = ETA
) -> dict[PlayerId, float]:
    """Recompute the qualities from each generation's existing snapshots and the wins against them."""
    qualities: dict[PlayerId, float] = {}
    for snapshots, wins in generations:
        qualities = qualities_after_wins(joined_qualities(qualities, snapshots), wins, eta)
    return qualities


def _softmax(values: Floats) -> Floats:
    weights = np.exp(values - values.max())
    return np.asarray(weights / weights.sum())
