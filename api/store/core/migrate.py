"""Migrates a database's schema under an advisory lock, so that several processes may start at once.

See docs/decisions/store.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, NullPool, create_engine, func, select

import migrations
from api.store.core.engine import database_url
from api.store.core.errors import MigrationError
from api.store.core.grants import grant_rows

MIGRATION_LOCK = 0x1A715A_0001
"""The advisory lock's number; any other process that changes the schema must take the same one."""


def upgrade(url: str, revision: str = "head", *, app_role: str = "") -> str:
    """Migrate up, all revisions in one transaction, and return the revision reached.

    With `app_role`, that role may then read and write rows, and change nothing of the schema.
    """
    with _locked_connection(url) as connection:
        _run(command.upgrade, connection, revision)
        if app_role:
            grant_rows(connection, app_role)
        return revision_of(connection) or "base"


def downgrade(url: str, revision: str) -> str:
    """Migrate down to a revision, or to "base", the empty database. The data of dropped tables is lost."""
    with _locked_connection(url) as connection:
        _run(command.downgrade, connection, revision)
        return revision_of(connection) or "base"


def current(url: str) -> str | None:
    """The revision the database is at; None before the first migration."""
    engine = create_engine(database_url(url), poolclass=NullPool)
    with engine.connect() as connection:
        return revision_of(connection)


def head() -> str:
    """The newest revision of this code, which it needs."""
    newest = ScriptDirectory.from_config(migration_config()).get_current_head()
    if newest is None:
        raise MigrationError("the migrations package holds no revision; is the installation complete?")
    return newest


def migration_config(connection: Connection | None = None) -> Config:
    """Alembic's configuration, in code: the scripts are in the `migrations` package, wherever it is installed."""
    config = Config()
    # ConfigParser reads % as interpolation
    config.set_main_option("script_location", str(Path(migrations.__path__[0])).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


@contextmanager
def _locked_connection(url: str) -> Iterator[Connection]:
    engine = create_engine(database_url(url), poolclass=NullPool)
    with engine.begin() as connection:
        # held until the transaction ends, so a killed process leaves neither the lock nor half a schema
        connection.execute(select(func.pg_advisory_xact_lock(MIGRATION_LOCK)))
        yield connection


def revision_of(connection: Connection) -> str | None:
    """The revision that the database of this connection is at."""
    return MigrationContext.configure(connection).get_current_revision()


def _run(action: Callable[[Config, str], None], connection: Connection, revision: str) -> None:
    try:
        action(migration_config(connection), revision)
    except CommandError as error:
        at = revision_of(connection) or "base"
        raise MigrationError(
            f"cannot migrate from {at!r} to {revision!r}: {error}; this code knows revisions up to {head()!r}"
        ) from error
