"""Identifies this installation, and detects others that use the same artifact store.

A database knows only its own checkpoints, so what one installation takes for garbage may be another's champion.
Therefore each installation writes a marker file into the artifact store before its first checkpoint is recorded.
"""

from __future__ import annotations

from contextlib import suppress
from weakref import WeakSet

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from api.store.core.errors import Conflict
from api.store.tables import Installation
from orchestrator.storage import installation_marks
from orchestrator.storage.artifacts import ArtifactStore, ArtifactStoreFull
from orchestrator.storage.installation_marks import MARKS, marks_in
from orchestrator.storage.uris import without_secrets

_marked: WeakSet[ArtifactStore] = WeakSet()
"""Artifact stores that this process has marked already."""


def installation_id(session: Session) -> str:
    """The id of this database; a copy of it on the same server has another id."""
    database = text("(SELECT oid FROM pg_database WHERE datname = current_database())")
    name, number = session.execute(select(Installation.id, database)).one()
    return f"{name}-{number}"


def leave_mark(session: Session, artifacts: ArtifactStore) -> None:
    """Write this installation's marker file into the artifact store, once per process."""
    if artifacts not in _marked:
        installation_marks.leave_mark(artifacts.root_url, installation_id(session))
        _marked.add(artifacts)


def check_sole_installation(session: Session, artifacts: ArtifactStore) -> str:
    """Write our marker if it is missing, and return our id; Conflict if the store has other markers."""
    own = installation_id(session)
    if own not in marks_in(artifacts.root_url):
        # a full store needs this collection, and no checkpoint of ours is recorded before the marker is written
        with suppress(ArtifactStoreFull):
            installation_marks.leave_mark(artifacts.root_url, own)
    # after ours was written, so that of two concurrent installations one sees the other
    return check_no_other_installation(session, artifacts)


def check_no_other_installation(session: Session, artifacts: ArtifactStore) -> str:
    """Our id; Conflict if the store has markers of other installations. Writes nothing."""
    own = installation_id(session)
    others = sorted(marks_in(artifacts.root_url) - {own})
    if others:
        raise Conflict(
            f"other installations keep checkpoints in {without_secrets(artifacts.root_url)} too ({', '.join(others)}), "
            f"so nothing is removed there; this one is {own}. Give each a place of its own (LANISTA_ARTIFACTS), or "
            f"delete the file {MARKS}/<name> of one that is gone."
        )
    return own
