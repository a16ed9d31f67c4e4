"""A backup holds every row and artifact, and is restored only whole, into an empty installation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from api.store.backup.manifest import MANIFEST, table_file
from api.store.backup.restore import OWN, restore_backup
from api.store.backup.write import SKIPPED, write_backup
from api.store.core.engine import create_store_engine, session_factory
from api.store.core.errors import Conflict
from api.store.tables import Base
from orchestrator.storage.artifacts import ArtifactStore
from tests.integration.store.world import World

TABLES = [table.name for table in Base.metadata.sorted_tables if table.name not in SKIPPED]

PRUNED = "UPDATE matches SET moves = NULL, moves_pruned_at = now() WHERE gate_id IS NOT NULL"


@pytest.fixture(scope="module")
def source(postgres_url: str) -> Iterator[Engine]:
    engine = create_store_engine(postgres_url)
    with session_factory(engine)() as session:
        World(session)
        session.execute(text(PRUNED))
        session.commit()
    yield engine
    engine.dispose()


@pytest.fixture
def target(fresh_postgres_url: str) -> Iterator[Engine]:
    engine = create_store_engine(fresh_postgres_url)
    yield engine
    engine.dispose()


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path / "artifacts"))


def rows(engine: Engine, table: str) -> list[Any]:
    with engine.connect() as connection:
        found = connection.execute(text(f"SELECT to_jsonb({table}) AS row FROM {table}"))
        return sorted((row.row for row in found), key=str)


def test_every_row_and_artifact_comes_back(
    source: Engine, target: Engine, store: ArtifactStore, tmp_path: Path
) -> None:
    weights = store.put(b"weights", kind="checkpoint")
    made = write_backup(source, store, tmp_path / "backup")
    assert all(table.rows for table in made.tables), "the world has rows in every table"
    elsewhere = ArtifactStore(str(tmp_path / "elsewhere"))
    restore_backup(target, elsewhere, tmp_path / "backup")
    assert {name: rows(target, name) for name in TABLES} == {name: rows(source, name) for name in TABLES}
    assert {match["moves"] is None: match["plies"] for match in rows(target, "matches")} == {True: 3, False: 3}
    assert elsewhere.get(weights) == b"weights"
    with target.connect() as connection, pytest.raises(DBAPIError, match="append-only"):
        connection.execute(text("DELETE FROM events"))


def test_numbers_go_on_after_the_restored_ones(
    source: Engine, target: Engine, store: ArtifactStore, tmp_path: Path
) -> None:
    made = write_backup(source, store, tmp_path / "backup")
    restore_backup(target, ArtifactStore(str(tmp_path / "elsewhere")), tmp_path / "backup")
    with target.begin() as connection:
        newest = connection.scalar(text("INSERT INTO events (type, payload) VALUES ('x.y', '{}') RETURNING id"))
    assert newest > made.last_event > 0


def test_a_new_installation_keeps_its_tokens_and_its_log(
    source: Engine, target: Engine, store: ArtifactStore, tmp_path: Path
) -> None:
    with target.begin() as connection:
        token = (
            "INSERT INTO api_tokens (id, name, token_sha256, scope) VALUES (gen_random_uuid(), 'new', :hash, 'admin')"
        )
        connection.execute(text(token), {"hash": "f" * 64})
        columns = ", ".join(name for name in rows(source, "audit_log")[0] if name != "id")
    own = rows(target, "api_tokens")
    write_backup(source, store, tmp_path / "backup")
    restore_backup(target, ArtifactStore(str(tmp_path / "elsewhere")), tmp_path / "backup")
    assert all(row in rows(target, "api_tokens") for row in [*own, *rows(source, "api_tokens")])
    assert columns and rows(target, "audit_log") == rows(source, "audit_log")


def test_a_second_backup_replaces_the_first(source: Engine, store: ArtifactStore, tmp_path: Path) -> None:
    store.put(b"one", kind="checkpoint")
    write_backup(source, store, tmp_path / "backup")
    store.put(b"two", kind="checkpoint")
    said: list[str] = []
    assert write_backup(source, store, tmp_path / "backup", say=said.append).artifacts == 2
    assert said[-1].startswith("2 artifacts, 1 of them new")


def test_an_installation_with_trials_is_refused(source: Engine, store: ArtifactStore, tmp_path: Path) -> None:
    write_backup(source, store, tmp_path / "backup")
    before = {name: rows(source, name) for name in TABLES}
    with pytest.raises(Conflict, match="is not empty"):
        restore_backup(source, store, tmp_path / "backup")
    assert {name: rows(source, name) for name in TABLES} == before


@pytest.mark.parametrize(
    ("harm", "words"),
    [("no manifest", "no complete backup"), ("cut", "missing or damaged"), ("newer", "of format 2")],
)
def test_an_incomplete_backup_is_refused(
    source: Engine, target: Engine, store: ArtifactStore, tmp_path: Path, harm: str, words: str
) -> None:
    folder = tmp_path / "backup"
    write_backup(source, store, folder)
    manifest = folder / MANIFEST
    if harm == "no manifest":
        manifest.unlink()
    elif harm == "cut":
        path = table_file(folder, "events")
        path.write_bytes(path.read_bytes()[:-20])
    else:
        manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(Conflict, match=words):
        restore_backup(target, store, folder)
    assert not any(rows(target, name) for name in TABLES if name not in OWN)
