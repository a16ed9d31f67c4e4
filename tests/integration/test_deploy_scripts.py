"""The scripts that a cluster runs once, against a real Postgres and a real Temporal server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from lanista.stack.postgres import binaries
from orchestrator.search_attributes import missing_search_attributes
from tests.integration.compose_file import ROOT, SECRETS
from tests.integration.postgres import PostgresServer

SCRIPTS = sorted((ROOT / "deploy").glob("*/*.sh"))
BIN = Path(sys.executable).parent


def run(script: str, environment: dict[str, str], tools: Path) -> subprocess.CompletedProcess[str]:
    path = f"{tools}:/usr/bin:/bin"
    return subprocess.run(
        ["/bin/sh", str(ROOT / "deploy" / script)],
        capture_output=True,
        text=True,
        env={**environment, "PATH": path, "HOME": "/nonexistent"},
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_a_shell_script_that_stops_at_errors(script: Path) -> None:
    assert script.read_text().startswith("#!/bin/sh\n")
    assert "\nset -eu\n" in script.read_text()
    assert os.access(script, os.X_OK)
    subprocess.run(["/bin/sh", "-n", str(script)], check=True)


@pytest.fixture
def databases(postgres_server: PostgresServer) -> Iterator[PostgresServer]:
    """The server after the script of its first start."""
    environment = {name: value for name, value in SECRETS.items() if name.endswith("_PASSWORD")}
    environment |= {"POSTGRES_USER": "postgres", "PGHOST": str(postgres_server.socket_folder)}
    done = run("postgres/10-databases.sh", environment, binaries())
    try:
        assert done.returncode == 0, done.stderr
        for _ in range(2):
            done = run("postgres/20-app-role.sh", environment, binaries())
            assert done.returncode == 0, done.stderr
        yield postgres_server
    finally:
        with psycopg.connect(postgres_server.url("postgres"), autocommit=True) as connection:
            for name in ("lanista", "temporal", "temporal_visibility"):
                connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            for name in ("lanista", "temporal", "lanista_app"):
                connection.execute(f'DROP ROLE IF EXISTS "{name}"')


def as_role(server: PostgresServer, role: str, database: str) -> str:
    return server.url(database).replace("postgres@", f"{role}@")


def test_each_role_has_its_own_databases_and_no_more(databases: PostgresServer) -> None:
    others = ("lanista_app", "temporal"), ("lanista_app", "temporal_visibility"), ("lanista", "temporal_visibility")
    for role, database in (("temporal", "lanista"), ("lanista", "temporal"), *others):
        with pytest.raises(psycopg.OperationalError, match="permission denied"):
            psycopg.connect(as_role(databases, role, database))
    with psycopg.connect(databases.url("postgres")) as connection:
        rows = connection.execute(
            "SELECT rolname, rolsuper, rolcreatedb, rolpassword IS NOT NULL FROM pg_authid "
            "WHERE rolname IN ('lanista', 'lanista_app', 'temporal') ORDER BY rolname"
        ).fetchall()
    assert rows == [(role, False, False, True) for role in ("lanista", "lanista_app", "temporal")]


def test_temporal_may_make_what_its_schema_needs(databases: PostgresServer) -> None:
    with psycopg.connect(as_role(databases, "temporal", "temporal_visibility")) as connection:
        connection.execute("CREATE TABLE executions (tags jsonb)")
        connection.execute("CREATE INDEX ON executions USING gin (tags jsonb_path_ops)")


def test_the_store_is_migrated_by_the_plain_role(databases: PostgresServer) -> None:
    environment = {**os.environ, "LANISTA_DATABASE_URL": as_role(databases, "lanista", "lanista")}
    for _ in range(2):
        done = subprocess.run([BIN / "lanista", "migrate"], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        assert "The schema is at revision" in done.stdout
    with psycopg.connect(as_role(databases, "lanista", "lanista")) as connection:
        (trials,) = connection.execute("SELECT count(*) FROM trials").fetchone() or (None,)
    assert trials == 0


def migrated(server: PostgresServer, **more: str) -> subprocess.CompletedProcess[str]:
    url = as_role(server, "lanista", "lanista")
    environment = {**os.environ, "LANISTA_DATABASE_URL": url, **more}
    return subprocess.run([BIN / "lanista", "migrate"], capture_output=True, text=True, env=environment)


FORBIDDEN = (
    "CREATE TABLE mine (id int)",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE SCHEMA mine",
    "ALTER TABLE trials ADD COLUMN mine int",
    "ALTER TABLE audit_log DISABLE TRIGGER ALL",
    "DROP TABLE trials CASCADE",
    "TRUNCATE events",
    "DROP TRIGGER append_only ON audit_log",
    "UPDATE alembic_version SET version_num = '0001'",
    "CREATE ROLE mine",
    "ALTER ROLE lanista_app SUPERUSER",
    "SET ROLE lanista",
    "SET session_replication_role = replica",
)


def test_the_role_of_api_and_worker_reads_and_writes_rows_and_no_more(databases: PostgresServer) -> None:
    done = migrated(databases, LANISTA_DATABASE_APP_ROLE="lanista_app")
    assert done.returncode == 0, done.stderr
    for statement in FORBIDDEN:
        with (
            psycopg.connect(as_role(databases, "lanista_app", "lanista")) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute(statement)
    with psycopg.connect(as_role(databases, "lanista_app", "lanista")) as connection:
        connection.execute("INSERT INTO projects (id, name) VALUES (gen_random_uuid(), 'mine')")
        connection.execute("UPDATE projects SET quota = 3")
        connection.execute("LOCK TABLE matches IN SHARE MODE")
        connection.execute("DELETE FROM projects")
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() is not None


def test_the_role_of_api_and_worker_backs_up_audits_and_prunes(databases: PostgresServer, tmp_path: Path) -> None:
    assert migrated(databases, LANISTA_DATABASE_APP_ROLE="lanista_app").returncode == 0
    url = as_role(databases, "lanista_app", "lanista")
    environment = {**os.environ, "LANISTA_DATABASE_URL": url, "LANISTA_ARTIFACTS": str(tmp_path / "artifacts")}
    for arguments in (
        ["backup", str(tmp_path / "backup")],
        ["audit"],
        ["prune", "--newest", "2", "--matches-days", "9"],
    ):
        done = subprocess.run([str(BIN / "lanista"), *arguments], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "backup" / "backup.json").exists()


def test_a_migration_for_a_role_that_does_not_exist_says_so(databases: PostgresServer) -> None:
    done = migrated(databases, LANISTA_DATABASE_APP_ROLE="nobody_there")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "Postgres has no role 'nobody_there' (LANISTA_DATABASE_APP_ROLE)" in done.stderr


def test_the_first_admin_token_is_made_once(databases: PostgresServer) -> None:
    assert migrated(databases, LANISTA_DATABASE_APP_ROLE="lanista_app").returncode == 0
    environment = {**os.environ, "LANISTA_DATABASE_URL": as_role(databases, "lanista_app", "lanista")}

    def bootstrap(**more: str) -> subprocess.CompletedProcess[str]:
        command = [str(BIN / "lanista"), "token", "bootstrap"]
        return subprocess.run(command, capture_output=True, text=True, env={**environment, **more})

    short = bootstrap(LANISTA_BOOTSTRAP_TOKEN="short")
    assert short.returncode == 1 and "at least 32" in short.stderr
    secret = "s" * 40
    first, second = bootstrap(LANISTA_BOOTSTRAP_TOKEN=secret), bootstrap(LANISTA_BOOTSTRAP_TOKEN="t" * 40)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert secret not in first.stdout + first.stderr and "admin's token already" in second.stdout
    with psycopg.connect(as_role(databases, "lanista_app", "lanista")) as connection:
        rows = connection.execute("SELECT scope, token_sha256 FROM api_tokens").fetchall()
        assert rows == [("admin", sha256(secret.encode()).hexdigest())]
        connection.execute("UPDATE api_tokens SET revoked_at = now()")
    again = bootstrap(LANISTA_BOOTSTRAP_TOKEN=secret)
    assert again.returncode != 0 and "was revoked" in again.stderr, "a revoked secret is not brought back"
    printed = bootstrap()
    assert printed.returncode == 0 and printed.stdout.startswith("lanista_"), printed.stderr


def test_a_migration_without_a_database_says_so() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: a connection is refused
        url = f"postgresql://lanista:secret@127.0.0.1:{taken.getsockname()[1]}/lanista"
        environment = {**os.environ, "LANISTA_DATABASE_URL": url}
        done = subprocess.run([BIN / "lanista", "migrate"], capture_output=True, text=True, env=environment)
    assert done.returncode == 1
    assert "LANISTA_DATABASE_URL: Postgres does not answer" in done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr


def test_temporals_databases_get_their_schemas(tmp_path: Path) -> None:
    tool = tmp_path / "temporal-sql-tool"
    tool.write_text(f'#!/bin/sh\necho "$SQL_PASSWORD $*" >> {tmp_path}/calls\n')
    tool.chmod(0o755)
    done = run("temporal/set-up-schema.sh", {"SQL_PASSWORD": "secret"}, tmp_path)
    assert done.returncode == 0, done.stderr
    server = "secret --plugin postgres12 --endpoint postgres --port 5432 --user temporal --database"
    folder = "/etc/temporal/schema/postgresql/v12"
    assert (tmp_path / "calls").read_text().splitlines() == [
        f"{server} temporal setup-schema --version 0.0",
        f"{server} temporal update-schema --schema-dir {folder}/temporal/versioned",
        f"{server} temporal_visibility setup-schema --version 0.0",
        f"{server} temporal_visibility update-schema --schema-dir {folder}/visibility/versioned",
    ]
    tool.write_text("#!/bin/sh\nexit 3\n")
    assert run("temporal/set-up-schema.sh", {"SQL_PASSWORD": "secret"}, tmp_path).returncode == 3


async def test_the_namespace_and_its_search_attributes_are_made_once() -> None:
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=str(BIN / "temporal"), dev_server_startup_timeout=timedelta(seconds=120)
    ) as server:
        address = server.client.service_client.config.target_host
        environment = {"TEMPORAL_ADDRESS": address, "NAMESPACE": "leagues", "RETENTION": "30d"}
        made, found = (run("temporal/create-namespace.sh", environment, BIN) for _ in range(2))
        client = await Client.connect(address, namespace="leagues")
        assert await missing_search_attributes(client) == []
    assert made.returncode == 0, made.stderr
    assert "successfully registered" in made.stdout + made.stderr
    assert (found.returncode, found.stdout) == (0, "namespace leagues exists\nsearch attributes are registered\n")
