"""Self-play, fictitious self-play, and prioritised fictitious self-play (PFSP)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from league.matchmaking.mixture import Mixture, Share
from league.matchmaking.pfsp import pfsp
from league.matchmaking.roster import Request
from league.validation import between, options_from

SELF_PLAY = "self_play"
FALLBACK = "self_play_fallback"


@dataclass(frozen=True, kw_only=True)
class NoOptions:
    """Self-play has no options."""


@dataclass(frozen=True, kw_only=True)
class PastOptions:
    """Which frozen players count: `all` of the league's or the learner's `own`; with bots or without."""

    pool: str = "all"
    include_bots: bool = False


@dataclass(frozen=True, kw_only=True)
class PfspOptions(PastOptions):
    """The weighting, its power if it is `hard`, and a share of self-play beside it."""

    weighting: str = "squared"
    power: float = 2.0
    self_play_share: float = 0.0


def live_self(request: Request, mass: float, branch: str = SELF_PLAY) -> Share:
    """The learner against itself."""
    return Share.single(branch, request.players.position(request.learner), mass)


def fallback(request: Request, rule: str, missing: str) -> Mixture:
    """Self-play where a rule has no opponents, recorded as a fallback."""
    return Mixture.of(
        request, rule, [live_self(request, 1.0, FALLBACK)], note=f"no {missing} yet, so the learner plays itself"
    )


def self_play(request: Request) -> Mixture:
    """The latest version of the learner only."""
    options_from(NoOptions, request.options, "self_play")
    return Mixture.of(request, "self_play", [live_self(request, 1.0)])


def fictitious(request: Request) -> Mixture:
    """Uniform over past versions."""
    options = options_from(PastOptions, request.options, "fictitious")
    past = request.past(options.pool, include_bots=options.include_bots)
    if not past.size:
        return fallback(request, "fictitious", "frozen players")
    share = Share(branch="past", positions=past, probabilities=np.full(past.size, 1 / past.size))
    return Mixture.of(request, "fictitious", [share])


def prioritised(request: Request) -> Mixture:
    """PFSP over past versions, with a share of self-play if the options set one."""
    options = options_from(PfspOptions, request.options, "pfsp")
    own = between(options.self_play_share, 0, 1, "self_play_share")
    past = request.past(options.pool, include_bots=options.include_bots)
    if not past.size:
        return fallback(request, "pfsp", "frozen players")
    weights = pfsp(request.win_rates[past], options.weighting, options.power)
    branch = f"pfsp_{options.weighting}"
    shares = [Share(branch=branch, positions=past, probabilities=weights * (1 - own)), live_self(request, own)]
    return Mixture.of(request, "pfsp", shares)
