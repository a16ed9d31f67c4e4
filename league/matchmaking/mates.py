"""Mates: who shares the learner's team, beside the learner itself.

See docs/decisions/teams.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from league.matchmaking.mixture import Seed
from league.matchmaking.roster import Indices, Roster
from league.types import PlayerId, Role
from league.validation import between

MOST_OF_A_KIND = 4
"""The most mates from the past, and the most from the rest of the league, in one generation."""


@dataclass(frozen=True, kw_only=True)
class MateShares:
    """The shares of the games in which the learner's mates are of its own past, or of the rest of the league."""

    past: float = 0.0
    league: float = 0.0
    include_bots: bool = False
    """Whether scripted players count to the rest of the league."""


@dataclass(frozen=True, kw_only=True)
class Mate:
    """One mate of a generation: its share of the games, and the kind that chose it."""

    player: PlayerId
    probability: float
    branch: str


def draw_mates(roster: Roster, learner: PlayerId, shares: MateShares, seed: Seed) -> tuple[Mate, ...]:
    """The mates of one generation, each of a kind with an equal share; a kind without players leaves its share to the
    learner.
    """
    past, league = between(shares.past, 0, 1, "past"), between(shares.league, 0, 1, "league")
    between(past + league, 0, 1, "past and league together")
    rng = np.random.default_rng(seed)
    own = roster.snapshots_of([learner])
    found: list[Mate] = []
    for branch, share, candidates in (
        ("past", past, own),
        ("league", league, _others(roster, learner, own, include_bots=shares.include_bots)),
    ):
        if share > 0 and candidates.size:
            found += _draw(roster, branch, share, candidates, rng)
    return tuple(found)


def _others(roster: Roster, learner: PlayerId, own: Indices, *, include_bots: bool) -> Indices:
    left_out = {roster.position(learner), *own.tolist()}
    return np.array(
        [
            position
            for position, member in enumerate(roster.members)
            if member.active and position not in left_out and (include_bots or member.role is not Role.BOT)
        ],
        dtype=np.intp,
    )


def _draw(roster: Roster, branch: str, share: float, candidates: Indices, rng: np.random.Generator) -> Iterator[Mate]:
    count = min(MOST_OF_A_KIND, candidates.size)
    for position in np.sort(rng.choice(candidates, count, replace=False)).tolist():
        yield Mate(player=roster.ids[position], probability=share / count, branch=branch)
