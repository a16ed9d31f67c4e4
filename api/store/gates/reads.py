"""Promotion gates and the path of their test."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import GateStatus
from api.store.core.errors import NotFound
from api.store.core.records import Record, plain, read_records
from api.store.tables import Gate, GateBatch


def list_gates(
    session: Session, trial_id: str, *, before: str | None, limit: int, statuses: Sequence[GateStatus] = ()
) -> Sequence[Gate]:
    """Gates of a trial's candidates, the newest first."""
    query = select(Gate).where(Gate.trial_id == trial_id).order_by(Gate.id.desc()).limit(limit)
    if statuses:
        query = query.where(Gate.status.in_(statuses))
    if before is not None:
        query = query.where(Gate.id < before)
    return session.scalars(query).all()


def get_gate(session: Session, gate_id: str) -> Gate:
    gate = session.get(Gate, gate_id)
    if gate is None:
        raise NotFound(f"there is no gate {gate_id}")
    return gate


def gate_path(session: Session, gate_id: str) -> list[Record]:
    """The batches of a gate, in order: the path of the log-likelihood ratio."""
    return read_records(session, _BATCHES.where(_PATH.c.gate_id == gate_id).order_by(_PATH.c.number))


_PATH = GateBatch.__table__
_BATCHES = select(*plain(_PATH.c))
