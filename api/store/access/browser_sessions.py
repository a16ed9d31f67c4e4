"""Browser sessions: opened by signing in, ended by signing out; a row each, so that an ended one stays ended."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from api.store.core.ids import new_id
from api.store.tables import ApiToken, BrowserSession


def open_session(session: Session, token_id: str, lifetime: timedelta) -> str:
    """Record a new session of the token; returns its id."""
    session_id = new_id()
    session.add(BrowserSession(id=session_id, token_id=token_id, expires_at=func.now() + lifetime))
    session.flush()
    return session_id


def token_of_session(session: Session, session_id: str) -> ApiToken | None:
    """The token of a session that is neither ended nor expired; the token itself may be revoked."""
    valid = (
        BrowserSession.id == session_id,
        BrowserSession.ended_at.is_(None),
        BrowserSession.expires_at > func.now(),
    )
    return session.scalars(select(ApiToken).join(BrowserSession).where(*valid)).one_or_none()


def end_session(session: Session, session_id: str) -> None:
    """End a session for good. Ending it again changes nothing."""
    session.execute(
        update(BrowserSession)
        .where(BrowserSession.id == session_id, BrowserSession.ended_at.is_(None))
        .values(ended_at=func.greatest(func.now(), BrowserSession.created_at))  # the clock may have been set back
    )


def delete_expired_sessions(session: Session) -> None:
    """Delete sessions that have expired: their cookies are refused by their own expiry."""
    session.execute(delete(BrowserSession).where(BrowserSession.expires_at < func.now() - timedelta(hours=1)))
