"""The time, by the database's clock."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session


def now(session: Session) -> datetime:
    """When the transaction began."""
    return session.scalars(select(func.now())).one()
