"""Which installation this is, and who else keeps checkpoints in the same place.

A store of artifacts knows no owner, and a database names only its own checkpoints: what one installation calls garbage
may be another's champion. So each leaves a mark in the store before its first checkpoint is named.
"""

from __future__ import annotations

from contextlib import suppress
from weakref import WeakSet

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from api.store.core.errors import Conflict
from api.store.tables import Installation
from orchestrator import installation_marks
from orchestrator.artifacts import ArtifactStore, ArtifactStoreFull
from orchestrator.installation_marks import MARKS, marks_in
from orchestrator.uris import without_secrets

_marked: WeakSet[ArtifactStore] = WeakSet()
"""Stores that carry our mark already: it is left once a process."""


def installation_id(session: Session) -> str:
    """The same as long as the database lives; a copy of it on the same server is another."""
    database = text("(SELECT oid FROM pg_database WHERE datname = current_database())")
    name, number = session.execute(select(Installation.id, database)).one()
    return f"{name}-{number}"


def leave_mark(session: Session, artifacts: ArtifactStore) -> None:
    """Make known that this installation keeps checkpoints here."""
    if artifacts not in _marked:
        installation_marks.leave_mark(artifacts.root_url, installation_id(session))
        _marked.add(artifacts)


def check_alone(session: Session, artifacts: ArtifactStore) -> str:
    """Leave our mark where it is missing and return it; raises Conflict where others have left theirs."""
    own = installation_id(session)
    if own not in marks_in(artifacts.root_url):
        # a full store is what a collection is for, and no checkpoint of ours is named before there is room for the mark
        with suppress(ArtifactStoreFull):
            installation_marks.leave_mark(artifacts.root_url, own)
    # after ours was left, so that of two who begin at once one sees the other
    return refuse_others(session, artifacts)


def refuse_others(session: Session, artifacts: ArtifactStore) -> str:
    """Our mark, left or not; raises Conflict where others have left theirs. Writes nothing."""
    own = installation_id(session)
    others = sorted(marks_in(artifacts.root_url) - {own})
    if others:
        raise Conflict(
            f"other installations keep checkpoints in {without_secrets(artifacts.root_url)} too ({', '.join(others)}), "
            f"so nothing is removed there; this one is {own}. Give each a place of its own (LANISTA_ARTIFACTS), or "
            f"delete the file {MARKS}/<name> of one that is gone."
        )
    return own
