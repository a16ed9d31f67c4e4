"""Audits commits: numbers without gaps, and each with the rows of its kind."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, VersionOrigin
from api.store.tables import Commit, Generation, ModelVersion, Pairing, Trial
from api.store.verify.report import Finding, FindingKind

_VERSION_OF = {
    CommitKind.GENERATION: VersionOrigin.TRAINED,
    CommitKind.SNAPSHOT: VersionOrigin.SNAPSHOT,
    CommitKind.RESET: VersionOrigin.RESET,
    CommitKind.ROLLBACK: VersionOrigin.ROLLBACK,
    CommitKind.COPY: VersionOrigin.COPY,
}


def wrong_commits(session: Session) -> Iterator[Finding]:
    """Gaps in the numbers, and commits whose rows are missing or duplicated."""
    for trial in session.scalars(select(Trial).order_by(Trial.id)):
        yield from _gaps(session, trial)
    for kind, origin in _VERSION_OF.items():
        yield from _contents(session, kind, origin)
    yield from _without(session, CommitKind.GENERATION, select(Generation.trial_id, Generation.commit), "generation")
    yield from _without(session, CommitKind.PAIRING, select(Pairing.trial_id, Pairing.commit), "pairing")


def _gaps(session: Session, trial: Trial) -> Iterator[Finding]:
    numbers = set(session.scalars(select(Commit.number).where(Commit.trial_id == trial.id)))
    missing = sorted(set(range(trial.last_commit + 1)) - numbers)
    if missing:
        yield Finding(wrong=FindingKind.LOST, subject=f"trial {trial.name}", detail=f"commits {missing} are missing")
    extra = sorted(number for number in numbers if number > trial.last_commit)
    if extra:
        detail = f"commits {extra} are above the newest, {trial.last_commit}"
        yield Finding(wrong=FindingKind.DISAGREEING, subject=f"trial {trial.name}", detail=detail)


def _contents(session: Session, kind: CommitKind, origin: VersionOrigin) -> Iterator[Finding]:
    """A commit of these kinds has exactly one version."""
    rows = session.execute(
        select(Trial.name, Commit.number, func.count(ModelVersion.id))
        .join(Trial, Trial.id == Commit.trial_id)
        .outerjoin(
            ModelVersion,
            (ModelVersion.trial_id == Commit.trial_id)
            & (ModelVersion.commit == Commit.number)
            & (ModelVersion.origin == origin),
        )
        .where(Commit.kind == kind)
        .group_by(Trial.name, Commit.trial_id, Commit.number)
        .having(func.count(ModelVersion.id) != 1)
    )
    for trial, number, versions in rows:
        yield Finding(
            wrong=FindingKind.DOUBLED if versions else FindingKind.LOST,
            subject=f"trial {trial}",
            detail=f"commit {number} ({kind}) has {versions} versions of origin {origin} instead of one",
        )


def _without(
    session: Session, kind: CommitKind, content: Select[str | None, int | None], what: str
) -> Iterator[Finding]:
    made = content.subquery()
    rows = session.execute(
        select(Trial.name, Commit.number)
        .join(Trial, Trial.id == Commit.trial_id)
        .outerjoin(made, (made.c.trial_id == Commit.trial_id) & (made.c.commit == Commit.number))
        .where(Commit.kind == kind, made.c.trial_id.is_(None))
    )
    for trial, number in rows:
        yield Finding(
            wrong=FindingKind.LOST, subject=f"trial {trial}", detail=f"the {what} of commit {number} is missing"
        )
