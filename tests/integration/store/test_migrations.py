"""The schema: models and migrations agree, up and down work, and two processes may migrate at once."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from api.store.core import migrate
from api.store.core.engine import create_store_engine
from api.store.core.errors import MigrationError
from api.store.tables import Base

CATALOGUES = {
    "columns": """
        SELECT table_name, column_name, data_type, udt_name, is_nullable, column_default, is_identity,
               identity_generation, generation_expression
        FROM information_schema.columns WHERE table_schema = 'public'""",
    "constraints": """
        SELECT conrelid::regclass::text, conname, contype, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace""",
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
}


def rows(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        found = connection.execute(query).fetchall()
    return sorted((row for row in found if row[0] != "alembic_version"), key=repr)


def test_alembic_finds_no_difference(postgres_url: str) -> None:
    engine = create_store_engine(postgres_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        differences = compare_metadata(context, Base.metadata)
    engine.dispose()
    assert differences == []


@pytest.mark.parametrize("catalogue", CATALOGUES)
def test_migrated_catalogue_equals_that_of_the_models(
    catalogue: str, postgres_url: str, empty_postgres_url: str
) -> None:
    engine = create_store_engine(empty_postgres_url)
    Base.metadata.create_all(engine)
    engine.dispose()
    migrated = rows(postgres_url, CATALOGUES[catalogue])
    assert len(migrated) > len(Base.metadata.tables)
    assert migrated == rows(empty_postgres_url, CATALOGUES[catalogue])


def test_every_revision_goes_up_down_and_up_again(empty_postgres_url: str) -> None:
    script = ScriptDirectory.from_config(migrate.migration_config())
    revisions = [step.revision for step in reversed(list(script.walk_revisions()))]
    assert migrate.current(empty_postgres_url) is None
    for revision in revisions:
        assert migrate.upgrade(empty_postgres_url, revision) == revision
        assert migrate.downgrade(empty_postgres_url, "-1") == (
            "base" if revision == revisions[0] else revisions[revisions.index(revision) - 1]
        )
        assert migrate.upgrade(empty_postgres_url, revision) == revision
    assert migrate.current(empty_postgres_url) == migrate.head() == revisions[-1]


def test_base_leaves_nothing_behind(fresh_postgres_url: str) -> None:
    migrate.downgrade(fresh_postgres_url, "base")
    objects = """
        SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace
          AND relname NOT LIKE 'alembic_version%'
        UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace"""
    assert rows(fresh_postgres_url, objects) == []
    assert migrate.upgrade(fresh_postgres_url) == migrate.head()


def test_events_that_were_told_twice_stay_once(empty_postgres_url: str) -> None:
    migrate.upgrade(empty_postgres_url, "0009")
    with psycopg.connect(empty_postgres_url) as connection:
        for key in ("a", "a", "b"):
            told = "INSERT INTO events (type, payload) VALUES ('pairing.retried', jsonb_build_object('key', %s::text))"
            connection.execute(told, (key,))
    migrate.upgrade(empty_postgres_url)
    assert rows(empty_postgres_url, "SELECT payload ->> 'key' FROM events") == [("a",), ("b",)]


def test_upgrade_of_a_migrated_database_changes_nothing(fresh_postgres_url: str) -> None:
    before = rows(fresh_postgres_url, CATALOGUES["constraints"])
    assert migrate.upgrade(fresh_postgres_url) == migrate.head()
    assert rows(fresh_postgres_url, CATALOGUES["constraints"]) == before


def test_two_processes_may_upgrade_at_once(empty_postgres_url: str) -> None:
    program = "import sys; from api.store.core import migrate; sys.stdout.write(migrate.upgrade(sys.argv[1]))"
    command = [sys.executable, "-c", program, empty_postgres_url]
    waiting = """
        SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
        WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted"""
    with psycopg.connect(empty_postgres_url, autocommit=True) as holder:
        holder.execute("SELECT pg_advisory_lock(%s)", (migrate.MIGRATION_LOCK,))
        racers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        while holder.execute(waiting).fetchone() != (2,):
            assert [racer.poll() for racer in racers] == [None, None]
            time.sleep(0.01)
        assert rows(empty_postgres_url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == []
    # the holder's connection is closed and both go for the lock together
    assert [racer.communicate()[0] for racer in racers] == [migrate.head()] * 2
    assert [racer.returncode for racer in racers] == [0, 0]


def test_a_database_newer_than_the_code_is_refused_by_name(fresh_postgres_url: str) -> None:
    with psycopg.connect(fresh_postgres_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(MigrationError, match=rf"'9999'.*{re.escape(migrate.head())}"):
        migrate.upgrade(fresh_postgres_url)
