"""Writes a backup while leagues run: all tables in one snapshot, then the artifacts.

Artifacts are never changed, and garbage collection spares what a recorded row refers to, so the artifacts may be
copied after the rows were read. Nothing is pruned meanwhile. Those that the folder holds already are not copied again.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from psycopg import sql
from sqlalchemy import Connection, Engine, text

from api.store.backup.manifest import Manifest, TableFile, artifact_folder, table_file
from api.store.core.locks import BACKUP_LOCK
from api.store.core.migrate import revision_of
from api.store.tables import Base
from orchestrator.storage.artifacts import ArtifactStore

SKIPPED = frozenset({"installation", "browser_sessions", "idempotency_keys"})
"""What belongs to one installation, or lives for hours only."""

Say = Callable[[str], None]


def write_backup(engine: Engine, artifacts: ArtifactStore, folder: Path, *, say: Say = lambda line: None) -> Manifest:
    """Write a backup into the folder; an earlier one in it is replaced when this one is complete."""
    table_file(folder, "").parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with engine.connect().execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True) as connection:
        try:
            connection.execute(text(f"SELECT pg_advisory_lock_shared({BACKUP_LOCK})"))
            connection.rollback()  # so that the snapshot begins with the lock held
            tables, found = _write_rows(connection, folder, say)
            connection.rollback()
            count, size = copy_artifacts(artifacts, ArtifactStore(str(artifact_folder(folder))), say)
        finally:
            connection.invalidate()  # the lock ends with the connection
    manifest = Manifest(tables=tables, artifacts=count, artifact_bytes=size, **found)
    manifest.write(folder)
    return manifest


def _write_rows(connection: Connection, folder: Path, say: Say) -> tuple[list[TableFile], dict[str, Any]]:
    """All tables, and what else the manifest tells of their snapshot."""
    made_at: str = connection.execute(
        text("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
    ).scalar_one()
    tables = []
    for table in Base.metadata.sorted_tables:
        if table.name not in SKIPPED:
            columns = [column.name for column in table.columns if column.computed is None]
            tables.append(_write_table(connection, table.name, columns, table_file(folder, table.name)))
            say(f"{table.name}: {tables[-1].rows:,} rows")
    return tables, {
        "made_at": made_at,
        "revision": revision_of(connection) or "base",
        "last_event": connection.scalar(text("SELECT coalesce(max(id), 0) FROM events")),
        "commits": {row.id: row.last_commit for row in connection.execute(text("SELECT id, last_commit FROM trials"))},
        "sequences": _sequences(connection),
    }


def _write_table(connection: Connection, table: str, columns: list[str], path: Path) -> TableFile:
    query = sql.SQL("COPY {} ({}) TO STDOUT").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    rows = 0
    with _cursor(connection) as cursor, gzip.open(path, "wb", compresslevel=1) as file, cursor.copy(query) as copy:
        for block in copy:
            file.write(block)
            rows += bytes(block).count(b"\n")  # a newline inside a value is written as \n
    return TableFile(name=table, columns=columns, rows=rows, sha256=file_hash(path))


def _cursor(connection: Connection) -> Any:
    """A cursor of the driver: SQLAlchemy has no COPY."""
    return connection.connection.cursor()


def file_hash(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sequences(connection: Connection) -> dict[str, int]:
    query = "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = current_schema()"
    found = connection.execute(text(query))
    return {row.sequencename: row.last_value for row in found if row.last_value is not None}


def copy_artifacts(source: ArtifactStore, target: ArtifactStore, say: Say) -> tuple[int, int]:
    """Copy every artifact that the target has not, checked by its hash; returns their number and size in all."""
    count, size, copied = 0, 0, 0
    for ref in source.stored():
        count, size = count + 1, size + ref.size
        if not target.has_expected_size(ref):
            target.copy(ref, source)
            copied += 1
            if copied % 200 == 0:
                say(f"{copied:,} artifacts copied")
    say(f"{count:,} artifacts, {copied:,} of them new, {size / 1e6:,.1f} MB in all")
    return count, size
