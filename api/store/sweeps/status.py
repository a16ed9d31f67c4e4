"""A sweep's status: the transitions that are allowed, its end, and the best trial."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import AliasMove, SweepStatus
from api.schemas.events import SweepStatusChanged
from api.store.aliases.moves import AliasKey, Promotion, move_alias
from api.store.core.clock import now
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent, append_events, append_once
from api.store.players.versions import present_version
from api.store.sweeps.metrics import player_measured
from api.store.sweeps.rows import Member, lock_sweep, members_of, spec_of_sweep
from api.store.tables import Event, Sweep
from orchestrator.spec.sweeps.sweep import SweepSpec

TRANSITIONS: dict[SweepStatus, frozenset[SweepStatus]] = {
    SweepStatus.PENDING: frozenset({SweepStatus.RUNNING, SweepStatus.PAUSED, SweepStatus.STOPPING}),
    SweepStatus.RUNNING: frozenset({SweepStatus.PAUSED, SweepStatus.STOPPING}),
    SweepStatus.PAUSED: frozenset({SweepStatus.RUNNING, SweepStatus.STOPPING}),
    SweepStatus.STOPPING: frozenset(),
    SweepStatus.STOPPED: frozenset(),
    SweepStatus.COMPLETED: frozenset(),
    SweepStatus.FAILED: frozenset(),
}
"""What orders may change; a sweep ends by `end_sweep`."""


def change_sweep(
    session: Session, sweep_id: str, status: SweepStatus, reason: str | None = None, *, order: str | None = None
) -> None:
    """Change the status. The present one changes nothing; one that cannot be reached is a Conflict."""
    sweep = lock_sweep(session, sweep_id)
    before = sweep.status
    if before is not status:
        if status not in TRANSITIONS[before]:
            allowed = ", ".join(sorted(TRANSITIONS[before])) or "nothing"
            raise Conflict(f"sweep {sweep.name!r} is {before} and cannot become {status}; allowed: {allowed}")
        sweep.status, sweep.status_reason = status, reason or None
        if sweep.started_at is None and status is not SweepStatus.STOPPING:
            sweep.started_at = now(session)
    event = status_event(sweep, before, reason or None)
    if order is not None:
        append_once(session, event, order)
    elif before is not status:
        append_events(session, [event])


def stop_unstarted_sweep(session: Session, sweep_id: str, reason: str, *, order: str | None = None) -> bool:
    """Stop a sweep whose workflow never ran; False if it has begun."""
    sweep = lock_sweep(session, sweep_id)
    if sweep.status is not SweepStatus.PENDING:
        return False
    moment = now(session)
    sweep.status, sweep.status_reason, sweep.finished_at = SweepStatus.STOPPED, reason, moment
    event = status_event(sweep, SweepStatus.PENDING, reason)
    if order is None:
        append_events(session, [event])
    else:
        append_once(session, event, order)
    return True


def was_ordered(session: Session, order: str) -> bool:
    """Whether an order to change a sweep's status has been carried out, whatever the status is by now."""
    written = select(Event.id).where(
        Event.trial_id.is_(None), Event.type == SweepStatusChanged.KIND, Event.payload["key"].astext == order
    )
    return session.scalar(written.limit(1)) is not None


def end_sweep(session: Session, sweep_id: str, failure: str = "") -> SweepStatus:
    """Set the final status, name the best trial, and move the alias if one is asked for. A second call does nothing."""
    sweep = lock_sweep(session, sweep_id)
    if sweep.status.is_final:
        return sweep.status
    spec, members = spec_of_sweep(sweep), members_of(session, sweep_id)
    best, before, sweep.finished_at = best_of(members), sweep.status, now(session)
    sweep.status, sweep.status_reason = _outcome(sweep, best, failure)
    sweep.best_trial_id = None if best is None else best.trial.id
    if best is not None and sweep.status is SweepStatus.COMPLETED:
        # the alias comes last: its move writes an event, and no lock may be taken after that
        _promote(session, sweep, spec, best)
    append_events(session, [status_event(sweep, before, sweep.status_reason)])
    return sweep.status


def best_of(members: Sequence[Member]) -> Member | None:
    """The trial with the best value at the highest rung that any trial reached; of equals the one recorded first."""
    valued = [member for member in members if member.newest is not None and member.newest.value is not None]
    return max(valued, key=_merit, default=None)


def _merit(member: Member) -> tuple[int, float, int]:
    newest = member.newest
    assert newest is not None and newest.value is not None, "only trials with a value are compared"
    return newest.rung, newest.value, -newest.id


def _outcome(sweep: Sweep, best: Member | None, failure: str) -> tuple[SweepStatus, str | None]:
    if failure:
        return SweepStatus.FAILED, failure
    if sweep.status is SweepStatus.STOPPING:
        return SweepStatus.STOPPED, sweep.status_reason
    if best is None or best.newest is None:
        return SweepStatus.FAILED, "no trial reached a rung"
    return SweepStatus.COMPLETED, f"{best.trial.name} is the best: {best.newest.value:.4g}"


def _promote(session: Session, sweep: Sweep, spec: SweepSpec, best: Member) -> None:
    if spec.promote is None:
        return
    version = present_version(session, player_measured(session, best.trial.id, spec.metric).id)
    if version is None or best.newest is None:
        return
    promotion = Promotion(
        reason=f"the best trial of sweep {sweep.name}: {best.newest.value:.4g} at {best.newest.steps} steps",
        actor=f"sweep {sweep.id}",
        move=AliasMove.PROMOTED,
        evidence={"sweep_id": sweep.id, "number": best.number, "value": best.newest.value, "rung": best.newest.rung},
    )
    key = AliasKey(project_id=sweep.project_id, game=best.trial.game, name=spec.promote)
    move_alias(session, key, version.id, promotion)


def status_event(sweep: Sweep, before: SweepStatus, reason: str | None) -> NewEvent:
    """The event of a changed status."""
    payload = SweepStatusChanged(
        sweep_id=sweep.id,
        project_id=sweep.project_id,
        name=sweep.name,
        from_=before,
        to=sweep.status,
        reason=reason,
        **({"best_trial_id": sweep.best_trial_id} if sweep.best_trial_id else {}),
    )
    return NewEvent(payload=payload)
