"""Reads promotion gates and the path of their test."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.schemas.enums import GateStatus
from api.schemas.gates import GateSummary, PathPoint
from api.store.core.errors import NotFound
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import Gate, GateBatch


def list_gates(
    session: Session, trial_id: str, *, before: str | None, limit: int, statuses: Sequence[GateStatus] = ()
) -> list[Record]:
    """Gates of a trial's candidates, the newest first, without their paths."""
    query = _SUMMARIES.where(Gate.trial_id == trial_id).order_by(Gate.id.desc()).limit(limit)
    if statuses:
        query = query.where(Gate.status.in_(statuses))
    if before is not None:
        query = query.where(Gate.id < before)
    return read_records(session, query)


def read_gate(session: Session, gate_id: str) -> Record:
    """One gate with its batches in order: the path of the log-likelihood ratio."""
    found = read_records(session, _SUMMARIES.where(Gate.id == gate_id))
    if not found:
        raise NotFound(f"there is no gate {gate_id}")
    path = read_records(session, _PATHS.where(GateBatch.gate_id == gate_id).order_by(GateBatch.number))
    return {**found[0], "path": path}


_GATES = Gate.__table__
# a gate that was opened before the model was recorded was judged by logistic Elo
_MODEL = func.coalesce(_GATES.c.settings["model"].astext, "logistic").label("model")
_SUMMARIES = select(*fields_of(GateSummary, _GATES, _MODEL))
_PATHS = select(*fields_of(PathPoint, GateBatch.__table__))
