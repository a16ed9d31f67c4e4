"""Whether the checkpoint of a version was pruned."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, select, text
from sqlalchemy.orm import Session

from api.store.core.errors import Conflict
from api.store.core.locks import CHECKPOINTS_LOCK
from api.store.players.versions import version_name
from api.store.tables import ModelVersion, PrunedVersion


def is_pruned() -> ColumnElement[bool]:
    """The condition that the checkpoint of the version of the query was pruned."""
    return select(PrunedVersion.version_id).where(PrunedVersion.version_id == ModelVersion.id).exists()


def pruned_at(session: Session, version_id: str) -> datetime | None:
    """When the version's checkpoint was pruned; None: it is kept."""
    return session.scalar(select(PrunedVersion.created_at).where(PrunedVersion.version_id == version_id))


def refuse_pruned(session: Session, *version_ids: str, lock: bool = True) -> None:
    """Conflict if one of these versions has no checkpoint any more.

    With `lock`, none of them is pruned before this transaction ends, and then what it wrote is seen.
    """
    if lock:
        session.execute(text(f"SELECT pg_advisory_xact_lock_shared({CHECKPOINTS_LOCK})"))
    query = select(PrunedVersion).where(PrunedVersion.version_id.in_(version_ids)).order_by(PrunedVersion.version_id)
    for pruned in session.scalars(query.limit(1)):
        raise Conflict(
            f"the checkpoint of {version_name(session, pruned.version_id)} (version {pruned.version_id}) was pruned on "
            f"{pruned.created_at:%Y-%m-%d}; choose a version that was kept"
        )
