"""A mixture of opponents, branch by branch, and the match plans made from it.

See docs/decisions/payoff-and-matchmaking.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from league.errors import InvalidInput, LeagueError
from league.matchmaking.roster import Indices, Request
from league.payoff import PayoffView
from league.types import Decision, DecisionKind, MatchPlan, Opponent, PlayerId
from league.validation import Floats

MOST_OPPONENTS: Final = 64
"""The most opponents of one plan; the full mixture is kept in the decision."""

Seed = int | Sequence[int] | np.random.Generator


@dataclass(frozen=True, kw_only=True)
class Share:
    """One branch of a rule: distinct roster positions and their probability mass."""

    branch: str
    positions: Indices
    probabilities: Floats

    @classmethod
    def single(cls, branch: str, position: int, mass: float) -> Share:
        """All of a branch's mass on one player."""
        return cls(branch=branch, positions=np.array([position]), probabilities=np.array([mass]))

    @property
    def mass(self) -> float:
        return float(self.probabilities.sum())


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """The full distribution over opponents that a rule gives, in closed form."""

    learner: PlayerId
    rule: str
    players: tuple[PlayerId, ...]
    shares: tuple[Share, ...]
    payoff: PayoffView
    payoff_revision: int = 0
    note: str = ""

    def __post_init__(self) -> None:
        total = sum(share.mass for share in self.shares)
        if not abs(total - 1) < 1e-9:
            raise LeagueError(f"the branches of {self.rule} add up to {total}, not to 1")

    @classmethod
    def of(cls, request: Request, rule: str, shares: Sequence[Share], note: str = "") -> Mixture:
        """A mixture for this request; branches without mass are left out."""
        return cls(
            learner=request.learner,
            rule=rule,
            players=request.players.ids,
            shares=tuple(share for share in shares if share.mass > 0),
            payoff=request.payoff,
            payoff_revision=request.payoff_revision,
            note=note,
        )

    def probabilities(self) -> Floats:
        """Probability of each player of the roster, over all branches."""
        total = np.zeros(len(self.players))
        for share in self.shares:
            total[share.positions] += share.probabilities
        return np.asarray(total / total.sum())

    def probability(self, player: PlayerId) -> float:
        """Probability of one player."""
        return float(self.probabilities()[self.players.index(player)])

    def branches(self, positions: Indices) -> list[str]:
        """For each player the branches that chose it, the largest mass first, joined by `+`."""
        parts: dict[str, Floats] = {}
        for share in self.shares:
            dense = parts.setdefault(share.branch, np.zeros(len(self.players)))
            dense[share.positions] += share.probabilities
        names = list(parts)
        columns = np.array([parts[name][positions] for name in names]).T
        orders = np.argsort(-columns, axis=1, kind="stable")
        counts = (columns > 0).sum(axis=1)
        return [
            "+".join(names[index] for index in order[:count])
            for order, count in zip(orders.tolist(), counts.tolist(), strict=True)
        ]


def full_plan(mixture: Mixture) -> MatchPlan:
    """A plan with all opponents of the mixture, without a limit."""
    probabilities = mixture.probabilities()
    return _plan(mixture, np.flatnonzero(probabilities > 0), probabilities)


def draw_plan(mixture: Mixture, seed: Seed, limit: int = MOST_OPPONENTS) -> MatchPlan:
    """A plan of at most `limit` opponents, an unbiased sample of the mixture.

    Opponents above a threshold keep their probability; the others are drawn by systematic sampling and get equal
    weights, which has the least variance of all unbiased choices.
    """
    if limit < 1:
        raise InvalidInput(f"limit must be at least 1, got {limit!r}")
    probabilities = mixture.probabilities()
    support = np.flatnonzero(probabilities > 0)
    if support.size <= limit:
        return _plan(mixture, support, probabilities)
    threshold = _threshold(probabilities[support], limit)
    kept = support[probabilities[support] >= threshold]
    rest = support[probabilities[support] < threshold]
    drawn = rest[_systematic(probabilities[rest], limit - kept.size, np.random.default_rng(seed))]
    chosen = np.sort(np.concatenate([kept, drawn]))
    weights = np.maximum(probabilities, threshold)
    weights /= weights[chosen].sum()
    return _plan(mixture, chosen, weights)


def matchmaking_decision(mixture: Mixture) -> Decision:
    """The decision record of a mixture: the full distribution, branch by branch, in columns."""
    return Decision(
        kind=DecisionKind.MATCHMAKING,
        verdict=mixture.rule,
        reason=mixture.note or f"{mixture.rule} mixes {', '.join(s.branch for s in mixture.shares)}",
        evidence={
            "learner": mixture.learner,
            "payoff_revision": mixture.payoff_revision,
            "branches": [
                {
                    "branch": share.branch,
                    "mass": share.mass,
                    "players": [mixture.players[position] for position in share.positions.tolist()],
                    "probabilities": share.probabilities.tolist(),
                }
                for share in mixture.shares
            ],
        },
    )


def _plan(mixture: Mixture, positions: Indices, probabilities: Floats) -> MatchPlan:
    chosen = [mixture.players[position] for position in positions.tolist()]
    rates = mixture.payoff.win_rates(mixture.learner, chosen).tolist()
    return MatchPlan(
        learner=mixture.learner,
        rule=mixture.rule,
        opponents=tuple(
            Opponent(
                player=player,
                probability=float(probabilities[position]),
                branch=branch,
                win_rate=rate if mixture.payoff.known(mixture.learner, player) else None,
            )
            for player, position, branch, rate in zip(
                chosen, positions.tolist(), mixture.branches(positions), rates, strict=True
            )
        ),
        payoff_revision=mixture.payoff_revision,
        note=mixture.note,
    )


def _threshold(probabilities: Floats, limit: int) -> float:
    """The c with sum(min(p/c, 1)) = limit: opponents with p < c are drawn, the others are kept."""
    ordered = np.sort(probabilities)[::-1]
    tails = ordered.sum() - np.concatenate([[0.0], np.cumsum(ordered)[:-1]])
    candidates = tails[:limit] / (limit - np.arange(limit))
    # keep the first k opponents such that the next one is below the equal weight of the drawn ones
    keep = int(np.argmax(ordered[:limit] < candidates))
    return float(candidates[keep])


def _systematic(probabilities: Floats, count: int, rng: np.random.Generator) -> Indices:
    """`count` distinct positions, each with a chance proportional to its probability, from one uniform draw."""
    edges = np.cumsum(probabilities) * (count / probabilities.sum())
    points = np.arange(count) + rng.random()
    return np.asarray(np.minimum(np.searchsorted(edges, points, side="right"), probabilities.size - 1))
