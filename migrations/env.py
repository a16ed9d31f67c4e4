"""Alembic's entry point: runs the revisions on the connection, and in the transaction, that the caller opened."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from api.store.tables import Base


def run_on(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        compare_type=True,
        compare_server_default=True,
    )
    with context.begin_transaction():
        context.run_migrations()


run_on(context.config.attributes["connection"])
