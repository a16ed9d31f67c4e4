"""Garbage collection: removes checkpoints that no version refers to, such as those of attempts that were not recorded,
files of games that are recorded as rows, and parts of replay buffers that no generation has written for 30 days.

See docs/decisions/checkpoints-and-artifacts.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session, sessionmaker

from api.schemas.enums import GateStatus, TournamentStatus
from api.store.core.installation import check_sole_installation, leave_mark
from api.store.core.locks import CHECKPOINTS_LOCK
from api.store.players.pruned import is_pruned
from api.store.tables import Gate, ModelVersion, Player, Tournament
from league.types import CheckpointRef
from orchestrator.searching import PREFIX, searched_checkpoint
from orchestrator.storage.artifacts import ArtifactStore, Collected, MissingArtifact, StoredFile
from orchestrator.storage.played_games import GAMES_KIND
from orchestrator.user_code.code_archives import KIND as CODE_KIND

BUFFER_KIND = "buffer"
"""Parts of replay buffers, which checkpoints name: see workers/buffers/storing.py."""
BUFFER_AGE = timedelta(days=30)
PARTIAL_KIND, PARTIAL_AGE = "partial", timedelta(days=2)
"""Mid-generation checkpoints, which workflows name and no row: see workers/crews/partial.py. An outage may be long."""
AT_ONCE = 50
"""Files removed under one lock, so that a recorder never waits long."""


def keep_checkpoint(session: Session, artifacts: ArtifactStore, checkpoint: CheckpointRef) -> None:
    """Check that the file exists, and lock it against collection until this transaction ends."""
    leave_mark(session, artifacts)
    session.execute(text(f"SELECT pg_advisory_xact_lock_shared({CHECKPOINTS_LOCK})"))
    if not artifacts.exists(checkpoint):
        raise MissingArtifact(checkpoint.uri, checkpoint.sha256)


def collect_garbage(sessions: sessionmaker[Session], artifacts: ArtifactStore, *, older_than: timedelta) -> Collected:
    """Remove old files that no version of any trial refers to; Conflict if another installation uses the store.

    No row refers to a file of games. Such a file stays as long as a tournament or gate is open that was open when the
    file was written.

    The store is listed without a lock. After a long outage an old file may be recorded at this moment, so a few files
    at a time are looked up again, and removed, under the lock.
    """
    uris: list[str] = []
    freed = 0
    with sessions() as session:
        check_sole_installation(session, artifacts)
        candidates = _unnamed(session, artifacts.files_older_than(older_than))
        begun = _oldest_open(session)
    candidates = [
        file
        for file in candidates
        # archives of code are small, and a trial may be forked, or play, for ever
        if file.kind != CODE_KIND
        and not _is_awaited(file, begun, older_than)
        and not is_kept_buffer(file)
        and not _may_resume(file)
    ]
    for few in _few_at_once(candidates):
        with sessions.begin() as session:
            session.execute(text(f"SELECT pg_advisory_xact_lock({CHECKPOINTS_LOCK})"))
            removed = artifacts.remove(_unnamed(session, few), older_than)
        uris += removed.uris
        freed += removed.bytes_freed
    return Collected(uris=tuple(uris), bytes_freed=freed)


def _oldest_open(session: Session) -> datetime | None:
    """When the oldest running tournament or gate started; None if none runs."""
    running = (
        select(func.min(Tournament.started_at)).where(Tournament.status == TournamentStatus.RUNNING),
        select(func.min(Gate.started_at)).where(Gate.status == GateStatus.RUNNING),
    )
    return min((begun for query in running if (begun := session.scalar(query)) is not None), default=None)


def _is_awaited(file: StoredFile, begun: datetime | None, older_than: timedelta) -> bool:
    """Whether the file has games that may still be recorded; `older_than` also allows for clock differences."""
    return begun is not None and file.kind == GAMES_KIND and file.modified >= begun - older_than


def is_kept_buffer(file: StoredFile) -> bool:
    """Whether the file may be a part of a kept replay buffer: every generation of the player writes all parts again."""
    return file.kind == BUFFER_KIND and file.modified > datetime.now(UTC) - BUFFER_AGE


def _may_resume(file: StoredFile) -> bool:
    """Whether the file may be the mid-generation checkpoint from which a lost attempt goes on."""
    return file.kind == PARTIAL_KIND and file.modified > datetime.now(UTC) - PARTIAL_AGE


def _few_at_once(files: Sequence[StoredFile]) -> Iterator[Sequence[StoredFile]]:
    return (files[start : start + AT_ONCE] for start in range(0, len(files), AT_ONCE))


def _unnamed(session: Session, files: Sequence[StoredFile]) -> list[StoredFile]:
    """The files that no version refers to, or only pruned ones, and no bot searches with, in the given order."""
    searching = session.scalars(select(Player.bot).where(Player.bot.startswith(PREFIX, autoescape=True)))
    named: set[str | None] = {searched_checkpoint(bot) for bot in searching if bot is not None}
    for few in _few_at_once(files):
        query = select(ModelVersion.sha256).where(ModelVersion.sha256.in_([file.name for file in few]), ~is_pruned())
        named.update(session.scalars(query))
    return [file for file in files if file.name not in named]
