"""Rules for snapshots, resets and promotions; each decision carries its reason and evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from league.errors import InvalidInput
from league.gates import Exploitation, GateVerdict, MemberStatus, MemberVerdict, SprtStatus, judge_probe
from league.matchmaking.roster import Member, Roster
from league.payoff import PayoffView
from league.types import Decision, DecisionKind, PlayerId, Role, VersionId
from league.validation import between, whole_count

SNAPSHOT, KEEP, RESET, PROMOTE = "snapshot", "keep", "reset", "promote"


@dataclass(frozen=True, kw_only=True)
class SnapshotRule:
    """Snapshot after `min_steps` if the lower bound of every win rate exceeds `win_rate`; after `max_steps` anyway."""

    min_steps: int = 4_000_000
    win_rate: float = 0.7
    max_steps: int = 8_000_000

    def __post_init__(self) -> None:
        between(self.win_rate, 0, 1, "win_rate")
        if whole_count(self.min_steps, "min_steps") > whole_count(self.max_steps, "max_steps"):
            raise InvalidInput(f"min_steps {self.min_steps} must not exceed max_steps {self.max_steps}")


@dataclass(frozen=True, kw_only=True)
class ResetRule:
    """The probability that a role is reset after a snapshot, and when resets go to a past main."""

    main: float = 0.0
    main_exploiter: float = 1.0
    league_exploiter: float = 0.25
    past_after_steps: int | None = None
    """Trial steps after which a reset goes to a random snapshot of a main; None for never."""

    def __post_init__(self) -> None:
        for role in (Role.MAIN, Role.MAIN_EXPLOITER, Role.LEAGUE_EXPLOITER):
            between(getattr(self, role.value), 0, 1, f"the reset probability of {role}")

    def probability(self, role: Role) -> float:
        """The probability of a reset for this role, which must be one that learns."""
        if not role.learns:
            raise InvalidInput(f"a player of role {role} does not learn and is never reset")
        return float(getattr(self, role.value))


def decide_snapshot(
    rule: SnapshotRule,
    *,
    learner: PlayerId,
    roster: Sequence[Member],
    payoff: PayoffView,
    steps_since_snapshot: int,
) -> Decision:
    """Decide whether the learner is snapshotted now. Without opponents, only `max_steps` leads to a snapshot."""
    players = Roster(roster)
    role = players.member(learner).role
    if not role.learns:
        raise InvalidInput(f"{learner!r} is {role}: only players that learn are snapshotted")
    steps = whole_count(steps_since_snapshot, "steps_since_snapshot")
    wanted = Role.MAIN if role == Role.MAIN_EXPLOITER else Role.HISTORICAL
    opponents = [players.ids[position] for position in players.of_role(wanted).tolist()]
    # the smallest lower bound also bounds the smallest win rate, whichever opponent that is against
    bounds = {opponent: payoff.interval(learner, opponent)[0] for opponent in opponents}
    hardest = min(bounds, key=lambda opponent: bounds[opponent], default=None)
    evidence: dict[str, Any] = {
        **asdict(rule),
        "learner": learner,
        "steps_since_snapshot": steps,
        "opponents": len(opponents),
        "hardest": hardest,
        "lower_bound": None if hardest is None else bounds[hardest],
    }
    called = "" if hardest is None else players.member(hardest).called
    verdict, reason = _snapshot_verdict(rule, steps, called, evidence["lower_bound"])
    return Decision(kind=DecisionKind.SNAPSHOT, verdict=verdict, reason=reason, evidence=evidence)


def _snapshot_verdict(rule: SnapshotRule, steps: int, hardest: str, bound: float | None) -> tuple[str, str]:
    if steps >= rule.max_steps:
        return SNAPSHOT, f"{steps} steps since the last snapshot reach max_steps, {rule.max_steps}"
    if steps < rule.min_steps:
        return KEEP, f"only {steps} of at least {rule.min_steps} steps since the last snapshot"
    if bound is None:
        return KEEP, "there is no opponent yet whose win rate could be judged"
    if bound > rule.win_rate:
        return SNAPSHOT, f"every win rate is above {rule.win_rate:g}: lowest bound {bound:.3f}, against {hardest}"
    return KEEP, f"against {hardest} the win rate may be as low as {bound:.3f}, not above {rule.win_rate:g}"


def decide_reset(
    rule: ResetRule,
    *,
    learner: PlayerId,
    roster: Sequence[Member],
    snapshot: VersionId | None,
    trial_steps: int,
    seed: int | Sequence[int] | np.random.Generator,
) -> Decision:
    """Decide whether the learner is reset after its snapshot, and to which weights.

    The snapshot must already be recorded: a reset before it would lose what was learnt.
    """
    players = Roster(roster)
    role = players.member(learner).role
    chance = rule.probability(role)
    if snapshot is None:
        raise InvalidInput(f"{learner!r} has no recorded snapshot: snapshot first, then reset")
    rng = np.random.default_rng(seed)
    draw = float(rng.random())
    evidence: dict[str, Any] = {
        "learner": learner,
        "role": role.value,
        "snapshot": snapshot,
        "probability": chance,
        "draw": draw,
    }
    if draw >= chance:
        reason = f"a {role} is reset with probability {chance:g}, and the draw was {draw:.3f}"
        return Decision(kind=DecisionKind.RESET, verdict=KEEP, reason=reason, evidence=evidence)
    target = _reset_target(rule, players, whole_count(trial_steps, "trial_steps"), rng)
    evidence["target"] = target
    origin = "the initial weights" if target is None else f"the past main {players.member(target).called}"
    reason = f"a {role} is reset after a snapshot with probability {chance:g}; it restarts from {origin}"
    return Decision(kind=DecisionKind.RESET, verdict=RESET, reason=reason, evidence=evidence)


def _reset_target(rule: ResetRule, players: Roster, trial_steps: int, rng: np.random.Generator) -> PlayerId | None:
    """A main's snapshot, late in a trial; None for the trial's initial weights."""
    if rule.past_after_steps is None or trial_steps < rule.past_after_steps:
        return None
    past = players.snapshots_of_role(Role.MAIN)
    return players.ids[int(rng.choice(past))] if past.size else None


@dataclass(frozen=True, kw_only=True)
class PanelMember:
    """What a gate's panel found against one member."""

    name: str
    verdict: MemberVerdict
    counts: tuple[int, ...]
    """Pairs by the candidate's score in the comparison with the champion."""


def decide_by_panel(decision: Decision, panel: Sequence[PanelMember]) -> Decision:
    """The decision on a candidate that beat the champion, after its games against the panel: one rejection fails it."""
    seen = [
        {"name": each.name, "counts": list(each.counts), **asdict(each.verdict), "status": each.verdict.status.value}
        for each in panel
    ]
    evidence = {**decision.evidence, "panel": seen}
    worse = next((each for each in panel if each.verdict.status == MemberStatus.WORSE), None)
    if worse is not None:
        numbers = f"LLR {worse.verdict.llr:.2f} reached {worse.verdict.upper:.2f}"
        against = f"the candidate is worse than the champion against {worse.name} of the panel"
        reason = f"the gate failed: {against}, {numbers}"
        return replace(decision, verdict=KEEP, reason=reason, evidence={**evidence, "failed_against": worse.name})
    names = ", ".join(each.name for each in panel)
    reason = f"{decision.reason}; the panel found it no worse than the champion against {names}"
    return replace(decision, reason=reason, evidence=evidence)


@dataclass(frozen=True, kw_only=True)
class ProbedCandidate:
    """What the probes of a gate found; None where one has no result."""

    candidate: Exploitation | None
    champion: Exploitation | None
    limit: float | None
    margin: float | None
    why: str = ""
    """Why the candidate's probe has no result, if so."""


def is_refused(found: ProbedCandidate) -> bool:
    """Whether the probes show the candidate to be too exploitable."""
    if found.candidate is None:
        return False
    return judge_probe(found.candidate, found.champion, limit=found.limit, margin=found.margin).refused


def decide_by_probe(decision: Decision, found: ProbedCandidate) -> Decision:
    """The decision on a candidate that passed all else: it fails where it is shown to be too exploitable."""
    evidence = {**decision.evidence, "probe": asdict(found)}
    if found.candidate is None:
        return replace(decision, reason=f"{decision.reason}; its probe has no result: {found.why}", evidence=evidence)
    verdict = judge_probe(found.candidate, found.champion, limit=found.limit, margin=found.margin)
    if is_refused(found):
        reason = f"the gate failed: the candidate is too exploitable, {verdict.reason}"
        return replace(decision, verdict=KEEP, reason=reason, evidence={**evidence, "failed_by": "probe"})
    return replace(decision, reason=f"{decision.reason}; in its probe {verdict.reason}", evidence=evidence)


def without_panel(decision: Decision) -> Decision:
    """The decision of a gate whose panel had nobody to meet: the game turned out to have one team."""
    why = "nobody meets an opponent in this game of one team, so its panel was not played"
    return replace(decision, reason=f"{decision.reason}; {why}", evidence={**decision.evidence, "no_panel": why})


def decide_promotion(*, candidate: VersionId, champion: VersionId | None, verdict: GateVerdict | None) -> Decision:
    """Decide whether the candidate becomes champion: unopposed if there is none, else by passing a gate."""
    if champion is None:
        return Decision(
            kind=DecisionKind.PROMOTION,
            verdict=PROMOTE,
            reason="there is no champion yet: the first candidate is promoted unopposed",
            evidence={"candidate": candidate, "champion": None, "unopposed": True},
        )
    if verdict is None:
        raise InvalidInput(f"{candidate!r} challenges champion {champion!r} and needs a gate's verdict")
    if verdict.status == SprtStatus.RUNNING:
        raise InvalidInput("the gate is still running; nothing can be decided yet")
    reasons = {
        SprtStatus.PASSED: f"the gate passed: LLR {verdict.llr:.2f} reached {verdict.upper:.2f}",
        SprtStatus.FAILED: f"the gate failed: LLR {verdict.llr:.2f} reached {verdict.lower:.2f}",
        SprtStatus.INCONCLUSIVE: f"the gate played all {verdict.games} games and stayed undecided",
        SprtStatus.INVALID: "an operator stopped the gate early, so it proves nothing",
    }
    evidence = {"candidate": candidate, "champion": champion, "unopposed": False, **asdict(verdict)}
    return Decision(
        kind=DecisionKind.PROMOTION,
        verdict=PROMOTE if verdict.status == SprtStatus.PASSED else KEEP,
        reason=reasons[verdict.status],
        evidence={**evidence, "status": verdict.status.value},
    )
