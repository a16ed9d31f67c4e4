"""The time by the database's clock."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session


def now(session: Session) -> datetime:
    """The start time of the transaction."""
    return session.scalars(select(func.now())).one()
