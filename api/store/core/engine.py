"""Engines and sessions from a database URL. Importing this module opens no connection.

Packages that do not import SQLAlchemy take types from here: `Session`, `Sessions`, `Engine`, and from `core.errors`
the database's errors.

See docs/decisions/api-load.md.
"""

from __future__ import annotations

import os
import select

import orjson
import psycopg
from psycopg.types.string import TextLoader
from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, InvalidatePoolError
from sqlalchemy.orm import Session, sessionmaker

from api.store.core.errors import InvalidDatabaseUrl

__all__ = [
    "SCRAM",
    "Engine",
    "Session",
    "Sessions",
    "connections_in_use",
    "create_store_engine",
    "database_url",
    "server_version",
    "session_factory",
    "snapshot_factory",
]

Sessions = sessionmaker[Session]
"""Makes sessions: `with sessions.begin() as session:` is one transaction."""

_DETECT_LOST_HOST = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""Without these a lost host would block every thread of a worker for a quarter of an hour."""
SCRAM = "scram-sha-256"
_POSTGRES_SCHEMES = frozenset({"postgres", "postgresql", "postgresql+psycopg"})


def database_url(url: str) -> URL:
    """The URL with psycopg 3 as its driver and no password in clear text; other databases and drivers are refused."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        # the text itself may hold a password, so it is not repeated
        raise InvalidDatabaseUrl(
            "the database URL cannot be read; expected postgresql://user:password@host:port/database"
        ) from None
    if parsed.drivername not in _POSTGRES_SCHEMES:
        raise InvalidDatabaseUrl(
            f"the database URL starts with {parsed.drivername!r}; allowed: postgresql://, postgresql+psycopg://"
        )
    return _never_in_clear(parsed.set(drivername="postgresql+psycopg"))


def _never_in_clear(url: URL) -> URL:
    """The URL with libpq's `require_auth`, unless it or PGREQUIREAUTH has one: a server chooses how to be answered.

    A local user could listen in the place of a server that is down, and ask for the password in clear text. With a
    password we answer SCRAM only, which does not show it; without one we also accept servers that ask for none.
    """
    if "require_auth" in url.query or "PGREQUIREAUTH" in os.environ:
        return url
    has_password = url.password is not None or any(name in os.environ for name in ("PGPASSWORD", "PGPASSFILE"))
    return url.update_query_dict({"require_auth": SCRAM if has_password else "!password,!md5"})


def create_store_engine(url: str, *, pool_size: int = 5, max_overflow: int = 5, application: str = "lanista") -> Engine:
    """A pooled engine that notices a restarted Postgres before it hands out a dead connection."""
    engine = create_engine(
        database_url(url),
        pool_size=pool_size,
        max_overflow=max_overflow,
        json_deserializer=orjson.loads,
        connect_args={"application_name": application, "options": "-c timezone=UTC", **_DETECT_LOST_HOST},
    )
    event.listen(engine, "connect", _keep_ids_text)
    event.listen(engine, "checkout", _refuse_closed)
    return engine


def _keep_ids_text(connection: psycopg.Connection, *_: object) -> None:
    """Load uuids as text: converting each to an object and back costs more than the query of a list."""
    connection.adapters.register_loader("uuid", TextLoader)


def _refuse_closed(connection: psycopg.Connection, *_: object) -> None:
    """Detect a connection that the server has closed, without the round trip of a ping."""
    if connection.closed or _has_data(connection.fileno()):
        raise InvalidatePoolError("the server has ended this connection")


def _has_data(socket: int) -> bool:
    """Whether data waits on an idle connection: it can only be a close, or the server's reason for it."""
    watched = select.poll()
    watched.register(socket, select.POLLIN)
    return bool(watched.poll(0))


def snapshot_factory(engine: Engine) -> Sessions:
    """Sessions whose transactions each read one snapshot of the database (REPEATABLE READ)."""
    return session_factory(engine.execution_options(isolation_level="REPEATABLE READ"))


def session_factory(engine: Engine) -> Sessions:
    """Sessions that keep loaded values readable after commit."""
    return sessionmaker(engine, expire_on_commit=False)


def connections_in_use(engine: Engine) -> int:
    """Connections that sessions hold now. Disposing of the engine closes the idle ones only."""
    return int(engine.pool.checkedout())  # type: ignore[attr-defined]  # of the queue pool, which we always use


def server_version(engine: Engine) -> str:
    """The version of Postgres, asked for on a connection of the pool: a health check."""
    with engine.connect() as connection:
        return str(connection.execute(text("SHOW server_version")).scalar_one())
