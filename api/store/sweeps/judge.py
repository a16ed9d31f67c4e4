"""Records the values of trials that reached a rung, and decides from the recorded values who goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy.orm import Session

from api.schemas.enums import SweepVerdict
from api.schemas.events import SweepJudged
from api.store.core.events import NewEvent
from api.store.sweeps.metrics import measure
from api.store.sweeps.rows import Member, rung_values, values_at
from api.store.tables import Sweep, SweepDecision, SweepValue
from league.sweeps.early_stopping import RungVerdict, judge_asha, judge_halving, judge_last
from orchestrator.spec.sweeps.sweep import SweepSpec


def record_values(session: Session, sweep: Sweep, spec: SweepSpec, members: Sequence[Member]) -> None:
    """The value of each trial that has reached its rung and has none there. The sweep must be locked."""
    ladder = spec.ladder
    for member in members:
        rung = member.next_rung
        if rung is None or rung in member.values or member.trial.steps < ladder.steps[rung]:
            continue
        if rung == ladder.last and spec.metric.name == "rating" and not member.trial.status.is_final:
            continue  # its last rating games may still be played
        member.values[rung] = _record(session, sweep, spec, member, rung)


def _record(session: Session, sweep: Sweep, spec: SweepSpec, member: Member, rung: int) -> SweepValue:
    commit = member.trial.last_commit
    before = max((value.commit for value in member.values.values()), default=0)
    measured = measure(session, member.trial, spec.metric, after=before, commit=commit)
    row = SweepValue(
        sweep_id=sweep.id,
        number=member.number,
        rung=rung,
        trial_id=member.trial.id,
        commit=commit,
        steps=member.trial.steps,
        value=measured.value,
        source=measured.source,
    )
    session.add(row)
    session.flush()  # ids are in the order in which values are judged
    return row


def judge_values(
    session: Session, sweep: Sweep, spec: SweepSpec, members: Sequence[Member], *, complete: bool
) -> list[NewEvent]:
    """Decide about every value that has no decision and can be decided on. `complete`: no further trial will start."""
    named = {member.number: member for member in members}
    events = []
    for rung, verdict in verdicts_due(spec, members, complete=complete):
        member = named[verdict.trial]
        decision = SweepDecision(
            sweep_id=sweep.id,
            number=verdict.trial,
            rung=rung,
            verdict=SweepVerdict(verdict.verdict),
            reason=verdict.reason,
            evidence=verdict.evidence,
        )
        session.add(decision)
        member.decisions[rung] = decision
        events.append(_event(sweep, member, rung, verdict))
    session.flush()
    return events


def verdicts_due(spec: SweepSpec, members: Sequence[Member], *, complete: bool) -> Iterator[tuple[int, RungVerdict]]:
    """Each undecided value that can be decided on, with its rung."""
    ladder = spec.ladder
    for rung in range(ladder.last + 1):
        decided = {member.number for member in members if rung in member.decisions}
        if rung < ladder.last and spec.method == "hyperband":
            yield from _halvings(spec, members, rung, complete=complete)
            continue
        rows = values_at(members, rung)
        for place, row in enumerate(rows, start=1):
            if row.number in decided:
                continue
            so_far = rung_values(rows[:place])
            if rung == ladder.last:
                yield rung, judge_last(so_far, rung=rung)
            else:
                yield rung, judge_asha(so_far, eta=spec.rungs.eta, rung=rung)


def _halvings(
    spec: SweepSpec, members: Sequence[Member], rung: int, *, complete: bool
) -> Iterator[tuple[int, RungVerdict]]:
    """Verdicts of every bracket in which no trial can reach the rung any more."""
    for bracket in spec.brackets:
        own = [member for member in members if member.entry.bracket == bracket.number]
        undecided = any(rung in member.values and rung not in member.decisions for member in own)
        started = complete or len(own) >= bracket.trials
        if not undecided or not started or any(_may_reach(member, rung) for member in own):
            continue
        rows = values_at(own, rung)
        for verdict in judge_halving(rung_values(rows), eta=spec.rungs.eta, rung=rung):
            yield rung, verdict


def _may_reach(member: Member, rung: int) -> bool:
    """Whether the trial has no value at the rung and may still get one."""
    due = member.next_rung
    return due is not None and due <= rung and rung not in member.values and not member.trial.status.is_final


def _event(sweep: Sweep, member: Member, rung: int, verdict: RungVerdict) -> NewEvent:
    row = member.values[rung]
    payload = SweepJudged(
        sweep_id=sweep.id,
        project_id=sweep.project_id,
        name=sweep.name,
        trial_name=member.trial.name,
        number=member.number,
        rung=rung,
        steps=row.steps,
        value=row.value,
        verdict=verdict.verdict,
        reason=verdict.reason,
    )
    return NewEvent(trial_id=member.trial.id, payload=payload)
