"""The data folder: one place for databases, artifacts, logs, tokens and pid files."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any


@dataclass
class ChildState:
    """What the supervisor knows of one child, as `lanista status` shows it."""

    state: str = "waiting"
    """waiting, starting, ready, restarting, failing or stopped"""
    pid: int | None = None
    restarts: int = 0
    last_exit: str = ""
    since: str = ""
    address: str = ""


@dataclass
class StackState:
    """What the supervisor writes to stack.json on every change."""

    pid: int
    created: float
    """The supervisor's start time, which with its pid names it for certain."""
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


class Home:
    """Paths below the data folder. Nothing is made until `create`."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().resolve()
        self.logs = self.root / "logs"
        self.run = self.root / "run"
        self.artifacts = self.root / "artifacts"
        self.tensorboard = self.root / "tensorboard"
        self.postgres = self.root / "postgres"
        self.temporal_db = self.root / "temporal.db"
        self.state_file = self.root / "stack.json"
        self.lock_file = self.root / "stack.lock"
        self.ports_file = self.root / "ports.json"
        self.admin_token = self.root / "admin.token"

    @property
    def scratch(self) -> Path:
        """A short path for sockets and Ray's session files: Unix socket paths may not exceed 107 characters."""
        key = hashlib.sha256(str(self.root).encode()).hexdigest()[:10]
        return Path(tempfile.gettempdir()) / f"lanista-{os.getuid()}-{key}"

    def create(self) -> None:
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.logs, self.run, self.artifacts, self.tensorboard):
            folder.mkdir(mode=0o700, exist_ok=True)
        self.scratch.mkdir(mode=0o700, exist_ok=True)

    def log_file(self, child: str) -> Path:
        return self.logs / f"{child}.log"

    def ready_file(self, child: str) -> Path:
        return self.run / f"{child}.ready"

    def secret(self, name: str) -> str:
        """A random secret kept in a file of mode 0600; made on first use."""
        path = self.root / name
        if not path.exists():
            write_atomically(path, secrets.token_urlsafe(32))
        return path.read_text().strip()

    def read_state(self) -> StackState | None:
        """The last state a supervisor wrote, whether or not it still runs."""
        try:
            return StackState.from_json(self.state_file.read_text())
        except (FileNotFoundError, json.JSONDecodeError, TypeError, KeyError):
            return None

    def try_lock(self) -> IO[str] | None:
        """Take the supervisor's lock, or None while another supervisor lives. The lock ends with its process."""
        handle = self.lock_file.open("a")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.close()
            return None
        return handle

    def is_supervised(self) -> bool:
        """Whether a supervisor holds the lock now."""
        if not self.lock_file.exists():
            return False
        handle = self.try_lock()
        if handle is None:
            return True
        handle.close()
        return False

    def last_log_lines(self, child: str, count: int = 12) -> list[str]:
        path = self.log_file(child)
        if not path.exists():
            return []
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 16_384))
            return file.read().decode(errors="replace").splitlines()[-count:]


def write_atomically(path: Path, text: str) -> None:
    """Write a private file so that a reader sees the old or the new text, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
