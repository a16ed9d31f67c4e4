"""Least privilege in Postgres: what the role of the API and the store worker may do; granted at each migration.

See docs/guides/security.md.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

from api.store.core.errors import MigrationError

VERSION_TABLE = "alembic_version"


def grant_rows(connection: Connection, role: str) -> None:
    """Let `role` read and write the rows of every table of the schema; it may not create, alter, drop or truncate."""
    if connection.scalar(text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": role}) is None:
        raise MigrationError(
            f"Postgres has no role {role!r} (LANISTA_DATABASE_APP_ROLE); deploy/postgres/20-app-role.sh creates it"
        )
    quote = connection.dialect.identifier_preparer.quote
    schema, name = quote(_schema(connection)), quote(role)
    for statement in (
        f"GRANT USAGE ON SCHEMA {schema} TO {name}",
        f"REVOKE CREATE ON SCHEMA {schema} FROM {name}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {name}",
        f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {name}",
        f"REVOKE INSERT, UPDATE, DELETE ON {schema}.{VERSION_TABLE} FROM {name}",
    ):
        connection.execute(text(statement))


def _schema(connection: Connection) -> str:
    return str(connection.scalar(text("SELECT current_schema()")))
