"""Garbage: checkpoints that no version refers to, such as those of attempts that lost the race to be recorded, and
files of games once these are rows.

See docs/decisions/checkpoints-and-artifacts.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session, sessionmaker

from api.schemas.enums import GateStatus, TournamentStatus
from api.store.core.installation import check_alone, leave_mark
from api.store.tables import Gate, ModelVersion, Tournament
from league.types import CheckpointRef
from orchestrator.artifacts import ArtifactStore, Collected, MissingArtifact, StoredFile
from orchestrator.played_games import GAMES_KIND

_LOCK = 113628506914819
"""Held by all who record a checkpoint, shared, and by a collection alone, for a few files at a time."""
AT_ONCE = 50
"""Files removed under one lock: nobody who records a generation waits for longer than that takes."""


def keep_checkpoint(session: Session, artifacts: ArtifactStore, checkpoint: CheckpointRef) -> None:
    """Make sure that the file is there and stays until this transaction has named it."""
    leave_mark(session, artifacts)
    session.execute(text(f"SELECT pg_advisory_xact_lock_shared({_LOCK})"))
    if not artifacts.exists(checkpoint):
        raise MissingArtifact(checkpoint.uri, checkpoint.sha256)


def collect_garbage(sessions: sessionmaker[Session], artifacts: ArtifactStore, *, older_than: timedelta) -> Collected:
    """Remove what no version of any trial refers to and is older than `older_than`; Conflict where others store too.

    No row names a file of games before they are recorded, and none has to afterwards: it stays as long as any
    tournament or gate is open that was so when it was written.

    The store is listed without a lock. Age alone is no proof: after a long outage an old file may be recorded at
    this very moment, so each few files are looked up once more, and removed, under the lock.
    """
    uris: list[str] = []
    freed = 0
    with sessions() as session:
        check_alone(session, artifacts)
        candidates = _unnamed(session, artifacts.aged(older_than))
        begun = _oldest_open(session)
    candidates = [file for file in candidates if not _is_awaited(file, begun, older_than)]
    for few in _few_at_once(candidates):
        with sessions.begin() as session:
            session.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            removed = artifacts.remove(_unnamed(session, few), older_than)
        uris += removed.uris
        freed += removed.bytes_freed
    return Collected(uris=tuple(uris), bytes_freed=freed)


def _oldest_open(session: Session) -> datetime | None:
    """When the longest-running of all tournaments and gates began; None where none runs."""
    running = (
        select(func.min(Tournament.started_at)).where(Tournament.status == TournamentStatus.RUNNING),
        select(func.min(Gate.started_at)).where(Gate.status == GateStatus.RUNNING),
    )
    return min((begun for query in running if (begun := session.scalar(query)) is not None), default=None)


def _is_awaited(file: StoredFile, begun: datetime | None, older_than: timedelta) -> bool:
    """Whether it holds games that may still be recorded; `older_than` also allows for clocks that differ."""
    return begun is not None and file.kind == GAMES_KIND and file.modified >= begun - older_than


def _few_at_once(files: Sequence[StoredFile]) -> Iterator[Sequence[StoredFile]]:
    return (files[start : start + AT_ONCE] for start in range(0, len(files), AT_ONCE))


def _unnamed(session: Session, files: Sequence[StoredFile]) -> list[StoredFile]:
    """Those that no version names, in the order given."""
    named: set[str | None] = set()
    for few in _few_at_once(files):
        query = select(ModelVersion.sha256).where(ModelVersion.sha256.in_([file.name for file in few]))
        named.update(session.scalars(query))
    return [file for file in files if file.name not in named]
