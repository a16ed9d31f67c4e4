"""Shared links: made, found by their hash, revoked, listed."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from api.schemas.shares import Share
from api.store.core.errors import NotFound
from api.store.core.ids import new_id
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import ShareLink, Tournament, Trial


def add_share(
    session: Session,
    *,
    sha256: str,
    trial_id: str | None,
    tournament_id: str | None,
    lasts: timedelta,
    note: str,
    created_by: str,
) -> str:
    """Store a link by its hash and return its id."""
    if trial_id is not None and session.get(Trial, trial_id) is None:
        raise NotFound(f"there is no trial {trial_id}")
    if tournament_id is not None and session.get(Tournament, tournament_id) is None:
        raise NotFound(f"there is no tournament {tournament_id}")
    share = ShareLink(
        id=new_id(),
        token_sha256=sha256,
        trial_id=trial_id,
        tournament_id=tournament_id,
        note=note,
        created_by=created_by,
        expires_at=session.scalars(select(func.now())).one() + lasts,
    )
    session.add(share)
    session.flush()
    return share.id


def open_share(session: Session, sha256: str) -> ShareLink | None:
    """The link with this hash, counted as opened; None if it is unknown, revoked or expired."""
    return session.scalars(
        update(ShareLink)
        .where(
            ShareLink.token_sha256 == sha256,
            ShareLink.revoked_at.is_(None),
            ShareLink.expires_at > func.clock_timestamp(),
        )
        .values(opened=ShareLink.opened + 1, last_opened_at=func.now())
        .returning(ShareLink)
    ).one_or_none()


def revoke_share(session: Session, share_id: str) -> ShareLink:
    """Revoke a link. Revoking it again changes nothing."""
    share = session.get(ShareLink, share_id, with_for_update=True)
    if share is None:
        raise NotFound(f"there is no shared link {share_id}")
    if share.revoked_at is None:
        share.revoked_at = session.scalars(select(func.now())).one()
    session.flush()
    return share


def list_shares(
    session: Session, *, trial_id: str | None, tournament_id: str | None, before: str | None, limit: int
) -> list[Record]:
    """Links, the newest first, also those that ended."""
    query = _SHARES.order_by(ShareLink.id.desc()).limit(limit)
    if trial_id is not None:
        query = query.where(ShareLink.trial_id == trial_id)
    if tournament_id is not None:
        query = query.where(ShareLink.tournament_id == tournament_id)
    return read_records(session, query if before is None else query.where(ShareLink.id < before))


def read_share(session: Session, share_id: str) -> Record:
    """One link, without its hash."""
    return read_records(session, _SHARES.where(ShareLink.id == share_id))[0]


_SHARES = (
    select(
        *fields_of(
            Share, ShareLink.__table__, func.coalesce(Trial.__table__.c.name, Tournament.__table__.c.name).label("name")
        )
    )
    .select_from(ShareLink)
    .outerjoin(Trial, Trial.id == ShareLink.trial_id)
    .outerjoin(Tournament, Tournament.id == ShareLink.tournament_id)
)
