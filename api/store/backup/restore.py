"""Restores a backup into an empty installation, in one transaction.

Foreign keys, append-only triggers and the trigger that numbers events are off meanwhile (`session_replication_role`),
which only a superuser may do: rows come as they were, and they were valid.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from psycopg import errors, sql
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import ProgrammingError

from api.store.backup.manifest import Manifest, TableFile, artifact_folder, table_file
from api.store.backup.write import SKIPPED, Say, copy_artifacts, file_hash
from api.store.core.errors import Conflict
from api.store.core.migrate import revision_of
from api.store.tables import Base
from orchestrator.storage.artifacts import ArtifactStore

OWN = frozenset({"api_tokens", "audit_log"})
"""Tables in which a new installation has rows of its own. Both keep theirs, and get those of the backup."""
_BLOCK = 1 << 20


def restore_backup(engine: Engine, artifacts: ArtifactStore, folder: Path, *, say: Say = lambda line: None) -> Manifest:
    """Restore the backup into an installation without trials; Conflict, and nothing changed, where that cannot be."""
    manifest = Manifest.read(folder)
    for table in manifest.tables:
        path = table_file(folder, table.name)
        if not path.is_file() or file_hash(path) != table.sha256:
            raise Conflict(f"{path} is missing or damaged; restore from another backup")
    with engine.begin() as connection:
        _check(connection, manifest)
        # artifacts first: rows must never refer to files that are not there
        copy_artifacts(ArtifactStore(str(artifact_folder(folder))), artifacts, say)
        _without_triggers(connection)
        for table in manifest.tables:
            _fill(connection, table, table_file(folder, table.name))
            say(f"{table.name}: {table.rows:,} rows")
        for name, value in manifest.sequences.items():
            connection.execute(
                text("SELECT setval(CAST(:name AS regclass), greatest(:value, nextval(CAST(:name AS regclass))))"),
                {"name": name, "value": value},
            )
    return manifest


def _check(connection: Connection, manifest: Manifest) -> None:
    present = revision_of(connection)
    if present != manifest.revision:
        raise Conflict(
            f"the backup's schema is {manifest.revision}, this installation's {present}; restore it with the release "
            "that made it, and upgrade then"
        )
    for table in Base.metadata.sorted_tables:
        if table.name in SKIPPED | OWN:
            continue
        query = sql.SQL("SELECT EXISTS (SELECT FROM {})").format(sql.Identifier(table.name))
        cursor = _cursor(connection)
        if cursor.execute(query).fetchone()[0]:
            raise Conflict(
                f"this installation is not empty (table {table.name}); a backup is restored into a new one: "
                "`lanista up --home FOLDER`, then `lanista restore ... --home FOLDER`"
            )


def _without_triggers(connection: Connection) -> None:
    try:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
    except ProgrammingError as error:
        if isinstance(error.orig, errors.InsufficientPrivilege):
            raise Conflict(
                "a restore needs a superuser of Postgres (it sets session_replication_role); "
                "give its address as LANISTA_DATABASE_URL"
            ) from None
        raise


def _fill(connection: Connection, table: TableFile, path: Path) -> None:
    name = sql.Identifier(table.name)
    columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
    cursor = _cursor(connection)
    own = _set_aside(cursor, table.name) if table.name in OWN else None
    with gzip.open(path, "rb") as file, cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN").format(name, columns)) as copy:
        while block := file.read(_BLOCK):
            copy.write(block)
    if own is None:
        return
    if table.name == "audit_log":  # the new installation's rows come after the restored ones
        cursor.execute(sql.SQL("UPDATE {} SET id = id + (SELECT coalesce(max(id), 0) FROM {})").format(own, name))
    insert = "INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM {} ON CONFLICT DO NOTHING"
    cursor.execute(sql.SQL(insert).format(name, columns, columns, own))


def _set_aside(cursor: Any, table: str) -> sql.Identifier:
    """Move the rows of the new installation into a temporary table."""
    own = sql.Identifier(f"own_{table}")
    cursor.execute(
        sql.SQL("CREATE TEMP TABLE {} ON COMMIT DROP AS SELECT * FROM {}").format(own, sql.Identifier(table))
    )
    cursor.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
    return own


def _cursor(connection: Connection) -> Any:
    return connection.connection.cursor()
