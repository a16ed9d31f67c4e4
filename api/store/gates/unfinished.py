"""A trial's gates that are not over when the trial ends."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import GateStatus
from api.store.tables import Gate


def unfinished_gates(session: Session, trial_id: str) -> list[str]:
    """The trial's waiting and running gates. Waiting ones come first, so that the end of a running one starts none."""
    found = session.execute(
        select(Gate.id, Gate.status).where(
            Gate.trial_id == trial_id, Gate.status.in_((GateStatus.WAITING, GateStatus.RUNNING))
        )
    ).all()
    return [gate for gate, _ in sorted(found, key=lambda row: (row.status is not GateStatus.WAITING, row.id))]


def gates_opened_after(session: Session, trial_id: str) -> Sequence[Gate]:
    """Running gates of other trials that the end of this trial's gates opened."""
    ours = select(Gate.id).where(Gate.trial_id == trial_id).scalar_subquery()
    return session.scalars(
        select(Gate)
        .where(
            Gate.status == GateStatus.RUNNING,
            Gate.trial_id != trial_id,
            Gate.opened_after_id.in_(ours),
        )
        .order_by(Gate.id)
    ).all()
