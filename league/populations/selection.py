"""Exploit: whether a member of a population takes over the weights of a better one.

A member that looks worse may only have been unlucky. So it copies only where a one-sided test rejects "the donor is no
better": Welch's t test on returns, a normal test on ratings and win rates.

See docs/decisions/populations.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from league.errors import InvalidInput
from league.populations.rules import ExploitRule, Method, ScoreOf
from league.types import Decision, DecisionKind, PlayerId
from league.validation import distinct_names, finite, whole_count

COPY, KEEP = "copy", "keep"


@dataclass(frozen=True, kw_only=True)
class Score:
    """One member's score and its standard error; `games` is what it was measured by."""

    member: PlayerId
    name: str
    value: float
    error: float
    games: int
    small_sample: bool = False
    """Whether the error was estimated from these games, so that Student's distribution applies."""

    def __post_init__(self) -> None:
        finite(self.value, f"the score of {self.name}")
        whole_count(self.games, f"the games of {self.name}")
        if finite(self.error, f"the standard error of {self.name}") < 0:
            raise InvalidInput(f"the standard error of {self.name} must not be negative, it is {self.error:g}")


@dataclass(frozen=True, kw_only=True)
class Standings:
    """The scores of the members that were measured, and what else the decision's evidence names."""

    scores: tuple[Score, ...]
    of: ScoreOf
    errors: Mapping[frozenset[PlayerId], float] = field(default_factory=dict)
    """Standard errors of differences where scores are not independent, as of ratings from one fit."""
    source: Mapping[str, Any] = field(default_factory=dict)
    """Where the scores come from: the rating fit, the common opponents, the versions that were measured."""

    def __post_init__(self) -> None:
        distinct_names([score.member for score in self.scores], "members")


def decide_copy(rule: ExploitRule, standings: Standings, *, member: PlayerId, seed: int) -> Decision:
    """Decide whether the member copies, and from whom; the evidence has all scores and the test."""
    ranked = sorted(standings.scores, key=lambda score: (score.value, score.name))
    evidence: dict[str, Any] = {
        "method": rule.method.value,
        "quantile": rule.quantile,
        "level": rule.level,
        "by": standings.of.value,
        "member": member,
        "scores": [asdict(score) for score in ranked],
        **standings.source,
    }
    own = next((score for score in ranked if score.member == member), None)
    if own is None:
        return _kept("it has not played enough games to be compared", evidence)
    if len(ranked) < 2:
        return _kept("no other member has been measured yet", evidence)
    donor, place = _donor(rule, ranked, own, np.random.default_rng(seed))
    if donor is None:
        return _kept(place, evidence)
    return _tested(rule, standings, own, donor, place, evidence)


def p_value(own: Score, donor: Score, error: float) -> float:
    """The chance of a difference this large if the donor were no better."""
    gap = donor.value - own.value
    if error == 0:
        return 0.0 if gap > 0 else 1.0
    # imported here: a store worker that restarts need not load it, which takes a second
    from scipy.stats import t as student

    return float(student.sf(gap / error, _freedom(own, donor)))


def _tested(
    rule: ExploitRule, standings: Standings, own: Score, donor: Score, place: str, evidence: dict[str, Any]
) -> Decision:
    error = standings.errors.get(frozenset((own.member, donor.member)), math.hypot(own.error, donor.error))
    # of all others the donor is one that looks best, which the test must allow for (Bonferroni); a random one does not
    looks = len(standings.scores) - 1 if rule.method is Method.TRUNCATION else 1
    chance = min(1.0, p_value(own, donor, error) * looks)
    numbers = {"difference": donor.value - own.value, "error": error, "p_value": chance, "comparisons": looks}
    evidence = {**evidence, "donor": donor.member, "donor_name": donor.name, **numbers}
    words = f"{_shown(standings.of, own)} against {_shown(standings.of, donor)} of {donor.name}, p = {chance:.2g}"
    if chance < rule.level:
        reason = f"{place}: {words}, below {rule.level:g}"
        return Decision(kind=DecisionKind.POPULATION, verdict=COPY, reason=reason, evidence=evidence)
    return _kept(f"{place}, but the difference may be chance: {words}, not below {rule.level:g}", evidence)


def _donor(
    rule: ExploitRule, ranked: Sequence[Score], own: Score, rng: np.random.Generator
) -> tuple[Score | None, str]:
    """The member to copy from, if any, and where the own member is."""
    if rule.method is Method.BINARY_TOURNAMENT:
        others = [score for score in ranked if score is not own]
        donor = others[int(rng.integers(len(others)))]
        return donor, f"it met {donor.name} at random"
    count = max(1, int(len(ranked) * rule.quantile))
    lowest, highest = ranked[:count], ranked[-count:]
    if own not in lowest:
        place = len(ranked) - ranked.index(own)
        return None, f"it is number {place} of {len(ranked)}, not among the lowest {count}"
    return highest[int(rng.integers(count))], f"it is among the lowest {count} of {len(ranked)}"


def _freedom(own: Score, donor: Score) -> float:
    """Degrees of freedom by Welch and Satterthwaite; infinite where the errors are known."""
    if not (own.small_sample and donor.small_sample):
        return math.inf
    parts = [(score.error**2, score.games - 1) for score in (own, donor)]
    below = sum(variance**2 / max(1, games) for variance, games in parts)
    # the squares of tiny variances may round to 0
    return sum(variance for variance, _ in parts) ** 2 / below if below > 0 else min(games for _, games in parts) or 1.0


def _shown(of: ScoreOf, score: Score) -> str:
    if of is ScoreOf.WIN_RATE:
        return f"win rate {score.value:.3f} ± {score.error:.3f}"
    unit = "rating" if of is ScoreOf.RATING else "return"
    return f"{unit} {score.value:.4g} ± {score.error:.2g}"


def _kept(reason: str, evidence: dict[str, Any]) -> Decision:
    return Decision(kind=DecisionKind.POPULATION, verdict=KEEP, reason=reason, evidence=evidence)
