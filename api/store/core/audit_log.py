"""The audit log: who changed what, when."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from api.schemas.installation.audit_log import Entry
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import AuditEntry


def add_audit_entry(
    session: Session,
    *,
    actor: str,
    action: str,
    token_id: str | None = None,
    target: str | None = None,
    detail: dict[str, Any] | None = None,
    remote_address: str | None = None,
) -> None:
    """Write one line, in the transaction of the change itself."""
    session.execute(
        insert(AuditEntry).values(
            token_id=token_id,
            actor=actor,
            action=action,
            target=target,
            detail=detail or {},
            remote_address=remote_address,
        )
    )


def list_audit_entries(
    session: Session, *, before: int | None, limit: int, target: str | None = None, token_id: str | None = None
) -> list[Record]:
    """Lines of the log, the newest first."""
    query = _ENTRIES.order_by(AuditEntry.id.desc()).limit(limit)
    if before is not None:
        query = query.where(AuditEntry.id < before)
    if target is not None:
        query = query.where(AuditEntry.target == target)
    if token_id is not None:
        query = query.where(AuditEntry.token_id == token_id)
    return read_records(session, query)


_ENTRIES = select(*fields_of(Entry, AuditEntry.__table__))
