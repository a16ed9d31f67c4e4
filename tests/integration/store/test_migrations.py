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
from api.store.core.engine import create_store_engine, session_factory
from api.store.core.errors import MigrationError
from api.store.tables import Base
from tests.integration.store.world import World

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


def test_matches_keep_their_number_of_moves_both_ways_until_moves_are_pruned(fresh_postgres_url: str) -> None:
    engine = create_store_engine(fresh_postgres_url)
    with session_factory(engine)() as session:
        World(session)
    engine.dispose()
    for go, revision in ((migrate.downgrade, "0028"), (migrate.upgrade, "0029")):
        assert go(fresh_postgres_url, revision) == revision
        assert rows(fresh_postgres_url, "SELECT plies, moves FROM matches") == [(3, [4, 0, 8])] * 2
    with psycopg.connect(fresh_postgres_url) as connection:
        connection.execute("UPDATE matches SET moves = NULL, moves_pruned_at = now() WHERE gate_id IS NULL")
    with pytest.raises(Exception, match='column "moves" of relation "matches" contains null values'):
        migrate.downgrade(fresh_postgres_url, "0028")
    assert rows(fresh_postgres_url, "SELECT plies, moves FROM matches") == [(3, None), (3, [4, 0, 8])]


def test_events_that_were_told_twice_stay_once(empty_postgres_url: str) -> None:
    migrate.upgrade(empty_postgres_url, "0009")
    with psycopg.connect(empty_postgres_url) as connection:
        for key in ("a", "a", "b"):
            told = "INSERT INTO events (type, payload) VALUES ('pairing.retried', jsonb_build_object('key', %s::text))"
            connection.execute(told, (key,))
    migrate.upgrade(empty_postgres_url)
    assert rows(empty_postgres_url, "SELECT payload ->> 'key' FROM events") == [("a",), ("b",)]


OLD_LEAGUE = """
INSERT INTO projects (id, name) VALUES ('00000000-0000-7000-8000-000000000001', 'p');
INSERT INTO trials (id, project_id, name, game, seed, spec, payoff_decay, status, finished_at, archived_at) VALUES
  ('00000000-0000-7000-8000-00000000000a', '00000000-0000-7000-8000-000000000001', 't', 'g', 1, '{}', 1, 'pending',
   NULL, NULL),
  ('00000000-0000-7000-8000-00000000000b', '00000000-0000-7000-8000-000000000001', 'bots of g', 'g', 0, '{}', 1,
   'completed', now(), now());
INSERT INTO commits (trial_id, number, kind) VALUES ('00000000-0000-7000-8000-00000000000a', 0, 'created');
INSERT INTO players (id, trial_id, name, role, bot, hyperparameters, created_commit) VALUES
  ('00000000-0000-7000-8000-000000000011', '00000000-0000-7000-8000-00000000000a', 'main', 'main', NULL,
   '{"gamma": 0.5}', 0),
  ('00000000-0000-7000-8000-000000000012', '00000000-0000-7000-8000-00000000000a', 'mcts', 'bot', 'mcts',
   '{"rating_only": true}', 0);
INSERT INTO model_versions (id, trial_id, player_id, number, origin, steps, uri, sha256, size, commit) VALUES
  ('00000000-0000-7000-8000-000000000021', '00000000-0000-7000-8000-00000000000a',
   '00000000-0000-7000-8000-000000000011', 0, 'initial', 0, 'memory://a', repeat('a', 64), 1, 0),
  ('00000000-0000-7000-8000-000000000022', '00000000-0000-7000-8000-00000000000a',
   '00000000-0000-7000-8000-000000000011', 1, 'imported', 0, 'memory://b', repeat('b', 64), 1, 0);
INSERT INTO gates (id, project_id, trial_id, game, alias, candidate_version_id, champion_version_id, status,
  finished_at, elo0, elo1, alpha, beta, lower_bound, upper_bound, max_pairs, seed, settings)
SELECT id::uuid, '00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-00000000000a', 'g', 'champion',
  '00000000-0000-7000-8000-000000000022', '00000000-0000-7000-8000-000000000021', status, finished_at::timestamptz,
  0, 35, 0.05, 0.05, -1, 1, 10, 1, settings::jsonb
FROM (VALUES
  ('00000000-0000-7000-8000-000000000031', 'invalid', '2030-01-01', '{"alpha": 0.05}'),
  ('00000000-0000-7000-8000-000000000032', 'running', NULL,
   '{"alpha": 0.05, "opened_after": "00000000-0000-7000-8000-000000000031"}')
) AS old (id, status, finished_at, settings);
INSERT INTO schedules (id, project_id, name, every_seconds, tournament)
VALUES ('00000000-0000-7000-8000-000000000041', '00000000-0000-7000-8000-000000000001', 'nightly', 60, '{}');
INSERT INTO tournaments (id, project_id, trial_id, schedule_id, occasion, game, name, format, seed, spec)
SELECT gen_random_uuid(), '00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-00000000000a',
  schedule_id::uuid, occasion, 'g', name, 'gauntlet', 1, '{}'
FROM (VALUES
  ('asked', NULL, NULL),
  ('night', '00000000-0000-7000-8000-000000000041', 'nightly-1'),
  ('field', NULL, 'generation:00000000-0000-7000-8000-000000000011:3'),
  ('target', NULL,
   'evaluation:00000000-0000-7000-8000-00000000000a:00000000-0000-7000-8000-000000000011:4')
) AS old (name, schedule_id, occasion);
"""


def test_state_in_text_and_json_becomes_columns_and_goes_back(empty_postgres_url: str) -> None:
    old_form = (
        "SELECT name, hyperparameters FROM players",
        "SELECT id::text, settings FROM gates",
        "SELECT name, occasion FROM tournaments",
    )
    migrate.upgrade(empty_postgres_url, "0011")
    with psycopg.connect(empty_postgres_url) as connection:
        connection.execute(OLD_LEAGUE)
    before = [rows(empty_postgres_url, query) for query in old_form]
    migrate.upgrade(empty_postgres_url)
    assert rows(empty_postgres_url, "SELECT name, kind FROM trials") == [("bots of g", "project_bots"), ("t", "league")]
    assert rows(empty_postgres_url, "SELECT name, rating_only, hyperparameters FROM players") == [
        ("main", False, {"gamma": 0.5}),
        ("mcts", True, {}),
    ]
    gates = "SELECT right(id::text, 2), right(opened_after_id::text, 2), settings FROM gates"
    assert rows(empty_postgres_url, gates) == [("31", None, {"alpha": 0.05}), ("32", "31", {"alpha": 0.05})]
    tournaments = "SELECT name, purpose, occasion, right(player_id::text, 2), generation FROM tournaments"
    assert rows(empty_postgres_url, tournaments) == [
        ("asked", "request", None, None, None),
        ("field", "field_evaluation", None, "11", 3),
        ("night", "schedule", "nightly-1", None, None),
        ("target", "target_evaluation", None, "11", 4),
    ]
    migrate.downgrade(empty_postgres_url, "0011")
    assert [rows(empty_postgres_url, query) for query in old_form] == before


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
