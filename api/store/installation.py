"""Which installation this is, and who else keeps checkpoints in the same place.

A store of artifacts knows no owner, and a database names only its own checkpoints: what one installation calls garbage
may be another's champion. So each leaves a mark in the store before its first checkpoint is named.
"""

from __future__ import annotations

from weakref import WeakSet

from sqlalchemy import text
from sqlalchemy.orm import Session

from api.store.errors import Conflict
from orchestrator.artifacts import MARKS, ArtifactStore

_marked: WeakSet[ArtifactStore] = WeakSet()
"""Stores that carry our mark already: it is left once a process."""


def installation_id(session: Session) -> str:
    """The same as long as the database lives where it is; a copy, or one restored elsewhere, is another."""
    server, database = session.execute(
        text(
            "SELECT system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database())"
            " FROM pg_control_system()"
        )
    ).one()
    return f"{server}-{database}"


def leave_mark(session: Session, artifacts: ArtifactStore) -> None:
    """Make known that this installation keeps checkpoints here."""
    if artifacts not in _marked:
        artifacts.leave_mark(installation_id(session))
        _marked.add(artifacts)


def check_alone(session: Session, artifacts: ArtifactStore) -> str:
    """Leave our mark and return it; raises Conflict where others have left theirs."""
    own = installation_id(session)
    artifacts.leave_mark(own)
    others = sorted(artifacts.marks() - {own})
    if others:
        raise Conflict(
            f"other installations keep checkpoints in {artifacts.root_url} too ({', '.join(others)}), so nothing is "
            f"removed there; this one is {own}. Give each a place of its own (LANISTA_ARTIFACTS), or delete the file "
            f"{MARKS}/<name> of one that is gone."
        )
    return own
