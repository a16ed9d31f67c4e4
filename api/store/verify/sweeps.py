"""Audits sweeps: every value at a rung from the recorded rows, and every decision from the values.

A trial that was stopped early must not have trained beyond its rung.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import SweepStatus, SweepVerdict
from api.store.sweeps.metrics import measure, recorded_rating
from api.store.sweeps.rows import Member, members_of, rung_values, spec_of_sweep, values_at
from api.store.sweeps.status import best_of
from api.store.tables import Sweep, SweepValue
from api.store.verify.report import Finding, FindingKind
from league.sweeps.early_stopping import RungVerdict, judge_asha, judge_halving, judge_last
from league.sweeps.rungs import bracket_of
from orchestrator.spec.sweeps.points import holds
from orchestrator.spec.sweeps.sweep import SweepSpec

TOLERANCE = 1e-9


def wrong_sweeps(session: Session) -> Iterator[Finding]:
    """Values, decisions and trials of sweeps that differ from a recomputation."""
    for sweep in session.scalars(select(Sweep).order_by(Sweep.id)):
        spec, members = spec_of_sweep(sweep), members_of(session, sweep.id)
        yield from _wrong_trials(sweep, spec, members)
        for member in members:
            yield from _wrong_values(session, sweep, spec, member)
        yield from _wrong_decisions(sweep, spec, members)
        yield from _wrong_end(sweep, spec, members)


def _wrong_trials(sweep: Sweep, spec: SweepSpec, members: Sequence[Member]) -> Iterator[Finding]:
    if [member.number for member in members] != list(range(len(members))) or len(members) > spec.trial_count:
        detail = f"its trials have the numbers {[member.number for member in members]}; it has {spec.trial_count}"
        yield Finding(wrong=FindingKind.LOST, subject=_subject(sweep), detail=detail)
    for member in members:
        bracket = bracket_of(spec.brackets, member.number)
        if (bracket.number, bracket.first_rung) != (member.entry.bracket, member.entry.first_rung):
            yield _disagrees(sweep, member, f"it belongs to bracket {bracket.number}, not {member.entry.bracket}")
        for path, value in member.entry.point.items():
            if not holds(member.trial.spec, path, value):
                yield _disagrees(sweep, member, f"its trial file does not have {path} = {value}")
        stopped = member.stopped_early
        if stopped is not None and member.trial.steps > member.values[stopped.rung].steps:
            detail = f"it trained {member.trial.steps} steps, and was stopped at {member.values[stopped.rung].steps}"
            yield _disagrees(sweep, member, detail)


def _wrong_values(session: Session, sweep: Sweep, spec: SweepSpec, member: Member) -> Iterator[Finding]:
    before = 0
    for rung, row in sorted(member.values.items()):
        if row.steps < spec.ladder.steps[rung]:
            yield _disagrees(sweep, member, f"rung {rung} has {spec.ladder.steps[rung]} steps, it had {row.steps}")
        if spec.metric.name == "rating":
            # later fits rate the same version anew: the value is that of the fit in its source, which is audited itself
            value = recorded_rating(session, row.source)
        else:
            value = measure(session, member.trial, spec.metric, after=before, commit=row.commit).value
        if not _equal(value, row):
            yield _disagrees(sweep, member, f"its value at rung {rung} is {value}, not {row.value}")
        before = row.commit


def _equal(value: float | None, row: SweepValue) -> bool:
    if value is None or row.value is None:
        return value is row.value
    return math.isclose(value, row.value, rel_tol=TOLERANCE)


def _wrong_decisions(sweep: Sweep, spec: SweepSpec, members: Sequence[Member]) -> Iterator[Finding]:
    """Each decision once more, from the values that were there when it was made."""
    named = {(member.number, rung): member for member in members for rung in member.decisions}
    expected = {(verdict.trial, rung): verdict for rung, verdict in _verdicts(spec, members)}
    for key, member in named.items():
        decision, verdict = member.decisions[key[1]], expected[key]
        if (decision.verdict, decision.reason) != (verdict.verdict, verdict.reason):
            detail = f"rung {key[1]}: {verdict.verdict} ({verdict.reason}), not {decision.verdict} ({decision.reason})"
            yield _disagrees(sweep, member, detail)
        if decision.evidence != verdict.evidence:
            yield _disagrees(sweep, member, f"rung {key[1]}: the evidence is not that of the recorded values")


def _verdicts(spec: SweepSpec, members: Sequence[Member]) -> Iterator[tuple[int, RungVerdict]]:
    for rung in range(spec.ladder.last + 1):
        if rung < spec.ladder.last and spec.method == "hyperband":
            for bracket in spec.brackets:
                rows = values_at(members, rung, bracket=bracket.number)
                yield from (
                    (rung, verdict) for verdict in judge_halving(rung_values(rows), eta=spec.rungs.eta, rung=rung)
                )
            continue
        rows = values_at(members, rung)
        for place in range(1, len(rows) + 1):
            so_far = rung_values(rows[:place])
            last = rung == spec.ladder.last
            yield rung, judge_last(so_far, rung=rung) if last else judge_asha(so_far, eta=spec.rungs.eta, rung=rung)


def _wrong_end(sweep: Sweep, spec: SweepSpec, members: Sequence[Member]) -> Iterator[Finding]:
    """A sweep that completed has started every trial, judged every value, and named the best."""
    if sweep.status is not SweepStatus.COMPLETED:
        return
    best = best_of(members)
    if sweep.best_trial_id != (None if best is None else best.trial.id):
        yield Finding(wrong=FindingKind.DISAGREEING, subject=_subject(sweep), detail="another trial is the best")
    if len(members) < spec.trial_count and spec.budget.total_steps is None:
        detail = f"{len(members)} of {spec.trial_count} trials were started"
        yield Finding(wrong=FindingKind.LOST, subject=_subject(sweep), detail=detail)
    for member in members:
        undecided = [rung for rung in member.values if rung not in member.decisions]
        reached = [rung for rung, each in member.decisions.items() if each.verdict is SweepVerdict.COMPLETE]
        if undecided or (member.trial.status == "completed" and not reached and member.stopped_early is None):
            yield Finding(
                wrong=FindingKind.LOST,
                subject=f"{_subject(sweep)}, trial {member.number}",
                detail=f"no decision at rungs {undecided}" if undecided else "no value at the last rung",
            )


def _disagrees(sweep: Sweep, member: Member, detail: str) -> Finding:
    subject = f"{_subject(sweep)}, trial {member.number}"
    return Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)


def _subject(sweep: Sweep) -> str:
    return f"sweep {sweep.name} ({sweep.id})"
