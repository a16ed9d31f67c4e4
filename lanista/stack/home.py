"""The data folder: databases, artifacts, logs, tokens and pid files."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import stat
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil

from lanista.stack.errors import StackError

LONGEST_SOCKET_FOLDER = 40
"""Ray's socket names below the scratch folder take about 60 of the 107 characters of a Unix socket path."""


@dataclass
class ChildState:
    """What the supervisor knows of one child, as `lanista status` shows it."""

    state: str = "waiting"
    """waiting, starting, recovering, ready, restarting, failing or stopped"""
    pid: int | None = None
    started: float | None = None
    """When the process started, in seconds since 1970: a process of another time has only reused the number."""
    restarts: int = 0
    last_exit: str = ""
    since: str = ""
    address: str = ""


@dataclass
class StackState:
    """What the supervisor writes to stack.json on every change."""

    pid: int
    page: str
    started: str
    ready: bool = False
    note: str = ""
    children: dict[str, ChildState] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, text: str) -> StackState:
        values: dict[str, Any] = json.loads(text)
        values["children"] = {name: ChildState(**child) for name, child in values["children"].items()}
        return cls(**values)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=2)


@dataclass(frozen=True)
class OwnToken:
    """A data folder's admin token, and the user whose file it is."""

    text: str = field(repr=False)
    owner: int


class Home:
    """Paths below the data folder. `create` makes the folders."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().resolve()
        self.logs = self.root / "logs"
        self.run = self.root / "run"
        self.artifacts = self.root / "artifacts"
        self.tensorboard = self.root / "tensorboard"
        self.imports = self.root / "imports"
        self.traces = self.root / "traces"
        self.postgres = self.root / "postgres"
        self.postgres_building = self.root / "postgres.new"
        """The cluster is made here and then renamed, so that a killed initdb leaves no half-made cluster."""
        self.temporal_db = self.root / "temporal.db"
        self.state_file = self.root / "stack.json"
        self.lock_file = self.root / "stack.lock"
        self.ports_file = self.root / "ports.json"
        self.admin_token = self.root / "admin.token"

    @property
    def scratch(self) -> Path:
        """A short path for sockets and Ray's session files: Unix socket paths may not exceed 107 characters."""
        key = hashlib.sha256(str(self.root).encode()).hexdigest()[:10]
        name = f"lanista-{os.getuid()}-{key}"
        folder = Path(tempfile.gettempdir())
        return (folder if len(str(folder / name)) <= LONGEST_SOCKET_FOLDER else Path("/tmp")) / name  # noqa: S108 create() checks its owner and mode

    def create(self) -> None:
        """Make the folders, private to this user; raises StackError if that fails."""
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            for folder in (self.logs, self.run, self.artifacts, self.tensorboard, self.imports):
                folder.mkdir(mode=0o700, exist_ok=True)
            self.scratch.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise StackError(
                f"The data folder {self.root} cannot be used: {error.strerror}: {error.filename}. "
                "Choose another with --home (or LANISTA_HOME)."
            ) from None
        self._close_files()
        owner = self.scratch.lstat()
        # the name can be guessed and the parent is writable for everyone: check that the folder is private to this user
        if owner.st_uid != os.getuid() or not stat.S_ISDIR(owner.st_mode) or owner.st_mode & 0o022:
            raise StackError(f"{self.scratch} belongs to another user; remove it, or set TMPDIR to your own folder.")

    def _close_files(self) -> None:
        """Take from other users what an earlier version left readable, such as Temporal's database."""
        for path in self.root.iterdir():
            status = path.lstat()
            if stat.S_ISREG(status.st_mode) and status.st_mode & 0o077 and status.st_uid == os.getuid():
                path.chmod(stat.S_IMODE(status.st_mode) & ~0o077)

    def log_file(self, child: str) -> Path:
        return self.logs / f"{child}.log"

    def ready_file(self, child: str) -> Path:
        return self.run / f"{child}.ready"

    def secret(self, name: str) -> str:
        """A random secret in a file of mode 0600, made on first use."""
        path = self.root / name
        if not path.exists():
            write_atomically(path, secrets.token_urlsafe(32))
        return path.read_text().strip()

    def own_token(self) -> OwnToken:
        """The stack's admin token; raises StackError where there is none.

        Links are not followed: root may be in a folder of somebody else, which must not choose a file of root's.
        """
        try:
            descriptor = os.open(self.admin_token, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise StackError(f"The token {self.admin_token} cannot be read: {error.strerror}") from None
        with os.fdopen(descriptor) as file:
            return OwnToken(file.read().strip(), os.fstat(descriptor).st_uid)

    def read_state(self) -> StackState | None:
        """The last state that a supervisor wrote, whether or not it is still running."""
        try:
            return StackState.from_json(self.state_file.read_text())
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def live_state(self) -> StackState | None:
        """The state of the running supervisor; None if there is none, or it has not written its state yet."""
        state, supervisor = self.read_state(), self.supervisor()
        return state if state and supervisor and state.pid == supervisor.pid else None

    def try_lock(self, patience: float = 1.0) -> IO[str] | None:
        """Take the supervisor's lock; None while another supervisor holds it. The lock ends with its process.

        It retries for `patience` seconds, because `is_supervised` holds the lock for an instant.
        """
        deadline = time.monotonic() + patience
        while (handle := self._lock(fcntl.LOCK_EX)) is None:
            if time.monotonic() >= deadline:
                return None
            time.sleep(0.02)
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        return handle

    def _lock(self, kind: int) -> IO[str] | None:
        try:
            handle = os.fdopen(os.open(self.lock_file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "a")
        except PermissionError:
            raise StackError(
                f"The data folder {self.root} belongs to another user. Choose another with --home (or LANISTA_HOME)."
            ) from None
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.close()
            return None
        return handle

    def is_supervised(self) -> bool:
        """Whether a supervisor holds the lock now."""
        try:
            handle = self._lock(fcntl.LOCK_SH)  # shared, so that concurrent checks do not block each other
        except (FileNotFoundError, NotADirectoryError):
            return False
        if handle is None:
            return True
        handle.close()
        return False

    def supervisor(self) -> psutil.Process | None:
        """The process that holds the lock; None if no process does."""
        if not self.is_supervised():
            return None
        try:
            process = psutil.Process(int(self.lock_file.read_text()))
            # the pid could be of an earlier holder, and be reused by now
            holds = any(file.path == str(self.lock_file) for file in process.open_files())
        except (ValueError, psutil.Error):
            return None
        return process if holds else None

    def last_log_lines(self, child: str, count: int = 12) -> list[str]:
        path = self.log_file(child)
        if not path.exists():
            return []
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 16_384))
            return file.read().decode(errors="replace").splitlines()[-count:]


def write_atomically(path: Path, text: str) -> None:
    """Write a private file atomically: a reader sees the old or the new text."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
