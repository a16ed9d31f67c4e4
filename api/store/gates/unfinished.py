"""What is left of a trial's gates when the trial ends."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import GateStatus
from api.store.tables import Gate


def unfinished_gates(session: Session, trial_id: str) -> list[str]:
    """The trial's gates that wait or run; those that wait come first, so that the end of another opens none of them."""
    found = session.execute(
        select(Gate.id, Gate.status).where(
            Gate.trial_id == trial_id, Gate.status.in_((GateStatus.WAITING, GateStatus.RUNNING))
        )
    ).all()
    return [gate for gate, _ in sorted(found, key=lambda row: (row.status is not GateStatus.WAITING, row.id))]


def gates_opened_after(session: Session, trial_id: str) -> Sequence[Gate]:
    """Gates of other trials that run in the place of one of the trial's; its own may not begin any more."""
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
