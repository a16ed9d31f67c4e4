"""A gate's panel: a candidate that beat the champion must not be worse than it against others.

Candidate and champion play the same games against each member: the same seeds, openings and seats. A game that the
candidate ends better than the champion did counts as won, one that it ends alike as drawn. On pairs of such comparisons
runs the gate's own test with the sides swapped: its alternative is that the candidate is worse by elo1.

See docs/decisions/gates.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from league.errors import InvalidInput
from league.gates.sprt import GateVerdict, Sprt, SprtStatus
from league.validation import whole_count

Key = tuple[int, int]
"""A game by its pair and seat."""


class MemberStatus(StrEnum):
    """What the games against a member of the panel say."""

    WAITING = "waiting"
    RUNNING = "running"
    NOT_WORSE = "not_worse"
    UNDECIDED = "undecided"
    """All pairs were played, and it was not shown that the candidate is worse."""
    WORSE = "worse"


_MEANINGS = {
    SprtStatus.RUNNING: MemberStatus.RUNNING,
    SprtStatus.PASSED: MemberStatus.WORSE,
    SprtStatus.FAILED: MemberStatus.NOT_WORSE,
    SprtStatus.INCONCLUSIVE: MemberStatus.UNDECIDED,
}


@dataclass(frozen=True, kw_only=True)
class MemberVerdict:
    """The state of a member's test. `llr` at `upper` says that the candidate is worse."""

    status: MemberStatus
    llr: float
    lower: float
    upper: float


def member_test(test: Sprt, members: int) -> Sprt:
    """The test of one member out of `members`: is the champion better against it, by more than elo0?

    alpha bounds how often a candidate that is as good fails anywhere in the panel: each member gets its part
    (Bonferroni).
    """
    if whole_count(members, "members") < 1:
        raise InvalidInput(f"a panel has at least one member, got {members!r}")
    return replace(test, alpha=test.alpha / members)


def compare_games(candidate: Mapping[Key, float], champion: Mapping[Key, float]) -> tuple[int, ...]:
    """Pairs by the candidate's score 0, 1/4, 1/2, 3/4, 1 in the comparison with the champion's games."""
    if candidate.keys() != champion.keys():
        raise InvalidInput("candidate and champion must have played the same games against a member")
    scores: dict[int, list[float]] = {}
    for (pair, seat), mine in candidate.items():
        theirs = champion[pair, seat]
        scores.setdefault(pair, []).append(((mine > theirs) - (mine < theirs) + 1) / 2)
    counts = [0, 0, 0, 0, 0]
    for pair_scores in scores.values():
        counts[round(4 * sum(pair_scores) / len(pair_scores))] += 1
    return tuple(counts)


def judge_member(test: Sprt, counts: Sequence[int]) -> MemberVerdict:
    """The verdict on pairs counted from the candidate's view, by the member's own test."""
    found: GateVerdict = test.judge(tuple(reversed(counts)))
    return MemberVerdict(status=_MEANINGS[found.status], llr=found.llr, lower=found.lower, upper=found.upper)


def share_pairs(weights: Mapping[str, float], pairs: int) -> dict[str, int]:
    """Divide pairs of games among the parts of a mixture by their weights (largest remainders); zeros are left out.

    Every part plays its share in every round, so that the sample has the mixture's proportions at each look.
    """
    total = sum(weights.values())
    if not weights or min(weights.values()) < 0 or total <= 0:
        raise InvalidInput("a mixture needs weights of at least 0 and a positive sum")
    exact = {name: pairs * weight / total for name, weight in weights.items()}
    shares = {name: int(share) for name, share in exact.items()}
    rest = sorted(exact, key=lambda name: (shares[name] - exact[name], name))
    for name in rest[: pairs - sum(shares.values())]:
        shares[name] += 1
    return {name: share for name, share in shares.items() if share}
