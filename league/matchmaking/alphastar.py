"""The AlphaStar roles as closed-form mixtures: each branch of the rule with its probability mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from league.errors import InvalidInput
from league.matchmaking.mixture import Mixture, Share
from league.matchmaking.pfsp import pfsp
from league.matchmaking.roster import Indices, Request
from league.matchmaking.self_play import FALLBACK, fallback, live_self
from league.types import PlayerId, Role
from league.validation import Floats, between, options_from

RULE = "alphastar"


@dataclass(frozen=True, kw_only=True)
class AlphaStarOptions:
    """Shares and thresholds of the AlphaStar roles."""

    pfsp_share: float = 0.5
    """main: PFSP over all historical players."""
    verification_share: float = 0.15
    """main: checks for exploitation and forgetting; falls through to self-play when there is neither."""
    exploited_below: float = 0.3
    """A main-exploiter snapshot beaten less often than this is trained against."""
    forgotten_below: float = 0.7
    """A main's own snapshot is trained against if its win rate is below this and lower than it was before."""
    main_above: float = 0.3
    """main: another main is played live while the win rate exceeds this, else its snapshots."""
    exploited_main_above: float = 0.1
    """main_exploiter: the main is played live while the win rate exceeds this, else its snapshots."""
    include_bots: bool = False
    """Whether scripted players count as historical ones."""

    def __post_init__(self) -> None:
        for name in ("pfsp_share", "verification_share", "exploited_below", "forgotten_below"):
            between(getattr(self, name), 0, 1, name)
        for name in ("main_above", "exploited_main_above"):
            between(getattr(self, name), 0, 1, name)
        if self.pfsp_share + self.verification_share > 1:
            raise InvalidInput("pfsp_share and verification_share must not exceed 1 together")


def alphastar(request: Request) -> Mixture:
    """The mixture of the learner's role."""
    options = options_from(AlphaStarOptions, request.options, RULE)
    role = request.players.member(request.learner).role
    if role == Role.MAIN:
        return _main(request, options)
    if role == Role.MAIN_EXPLOITER:
        return _main_exploiter(request, options)
    if role == Role.LEAGUE_EXPLOITER:
        return _league_exploiter(request, options)
    raise InvalidInput(f"alphastar has no rule for the role {role}")


def without_monotonic_suffix(win_rates: Floats) -> int:
    """The number of win rates, in time order, that remain without the longest suffix that never rises.

    A learner beats older snapshots more often than newer ones; where that order breaks, it has forgotten.
    """
    rises = np.flatnonzero(np.diff(win_rates) > 0)
    return int(rises[-1]) + 2 if rises.size else 0


def _main(request: Request, options: AlphaStarOptions) -> Mixture:
    mains = _mains(request)
    historical = request.past("all", include_bots=options.include_bots)
    shares, note = [], ""
    if historical.size:
        shares.append(_pfsp(request, "pfsp", historical, "squared", options.pfsp_share))
    else:
        shares.append(live_self(request, options.pfsp_share, FALLBACK))
        note = "no historical players yet: their share is self-play"
    open_share = 1 - options.pfsp_share - options.verification_share
    verification = _exploitation_check(request, options)
    shares.extend(verification)
    for main in mains:
        mass = open_share / len(mains)
        if not verification:
            checked = _forgetting_check(request, options, main, options.verification_share / len(mains))
            shares.extend(checked)
            mass += 0 if checked else options.verification_share / len(mains)
        shares.append(_live_or_past(request, main, options.main_above, mass))
    return Mixture.of(request, RULE, shares, note)


def _exploitation_check(request: Request, options: AlphaStarOptions) -> list[Share]:
    """All verification goes to the main-exploiters' snapshots while one of them is hard to beat."""
    exploiters = request.players.snapshots_of_role(Role.MAIN_EXPLOITER)
    if exploiters.size and request.win_rates[exploiters].min() < options.exploited_below:
        share = options.verification_share
        return [_pfsp(request, "verification_exploiters", exploiters, "squared", share)]
    return []


def _forgetting_check(request: Request, options: AlphaStarOptions, main: PlayerId, mass: float) -> list[Share]:
    """A main's snapshots without the monotonic suffix of win rates, if one of them is forgotten."""
    past = request.players.snapshots_of([main])
    past = past[: without_monotonic_suffix(request.win_rates[past])]
    if past.size and request.win_rates[past].min() < options.forgotten_below:
        return [_pfsp(request, "verification_forgotten", past, "squared", mass)]
    return []


def _main_exploiter(request: Request, options: AlphaStarOptions) -> Mixture:
    mains = _mains(request)
    if not mains:
        return fallback(request, RULE, "main players")
    mass = 1 / len(mains)
    return Mixture.of(
        request, RULE, [_live_or_past(request, main, options.exploited_main_above, mass) for main in mains]
    )


def _league_exploiter(request: Request, options: AlphaStarOptions) -> Mixture:
    historical = request.past("all", include_bots=options.include_bots)
    if not historical.size:
        return fallback(request, RULE, "historical players")
    return Mixture.of(request, RULE, [_pfsp(request, "pfsp_capped", historical, "linear_capped", 1.0)])


def _live_or_past(request: Request, main: PlayerId, above: float, mass: float) -> Share:
    """A main as it is now, or, while it is too strong, its snapshots as a curriculum."""
    if main == request.learner:
        return live_self(request, mass)
    position = request.players.position(main)
    if request.win_rates[position] > above:
        return Share.single("main", position, mass)
    past = request.players.snapshots_of([main])
    if not past.size:
        return Share.single("main_without_past", position, mass)
    return _pfsp(request, "main_past", past, "variance", mass)


def _pfsp(request: Request, branch: str, positions: Indices, weighting: str, mass: float) -> Share:
    weights = pfsp(request.win_rates[positions], weighting)
    return Share(branch=branch, positions=positions, probabilities=weights * mass)


def _mains(request: Request) -> list[PlayerId]:
    return [request.players.ids[position] for position in request.players.of_role(Role.MAIN).tolist()]
