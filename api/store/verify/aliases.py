"""Audits aliases: each points where its history ends."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import GateStatus
from api.store.aliases.moves import AliasKey, alias_history
from api.store.tables import Alias, AliasEvent, Gate
from api.store.verify.report import Finding, FindingKind


def wrong_aliases(session: Session) -> Iterator[Finding]:
    """Aliases that disagree with their history, and passed gates that moved no alias."""
    for alias in session.scalars(select(Alias)):
        subject = f"alias {alias.name} of {alias.game}"
        history = alias_history(session, AliasKey(project_id=alias.project_id, game=alias.game, name=alias.name))
        if [event.revision for event in history] != list(range(1, alias.revision + 1)):
            yield Finding(wrong=FindingKind.LOST, subject=subject, detail=f"moves are missing up to {alias.revision}")
        elif history[-1].to_version_id != alias.version_id:
            detail = f"it points at {alias.version_id}, its history ends at {history[-1].to_version_id}"
            yield Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)
    unmoved = (
        select(Gate.id)
        .outerjoin(AliasEvent, AliasEvent.gate_id == Gate.id)
        .where(Gate.status == GateStatus.PASSED, AliasEvent.id.is_(None))
    )
    for gate_id in session.scalars(unmoved):
        yield Finding(wrong=FindingKind.LOST, subject=f"gate {gate_id}", detail="it passed, and its alias never moved")
