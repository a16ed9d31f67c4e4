"""The time by the database's clock, and how far that is from this machine's."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import DateTime, func, select, text
from sqlalchemy.orm import Session

from api.store.core.engine import Engine
from orchestrator.clock_skew import Skew, measure_skew


def now(session: Session) -> datetime:
    """The start time of the transaction."""
    return session.scalars(select(func.now())).one()


def up_since(session: Session) -> datetime:
    """When Postgres came up: before that nothing could be recorded."""
    return session.scalars(select(func.pg_postmaster_start_time(type_=DateTime(timezone=True)))).one()


def postgres_skew(engine: Engine) -> Skew:
    """How far the clock of Postgres' machine is ahead of this one's."""
    with engine.connect() as connection:
        clock = text("SELECT extract(epoch FROM clock_timestamp())::float8")
        return measure_skew(lambda: float(connection.execute(clock).scalar_one()), times=3)
