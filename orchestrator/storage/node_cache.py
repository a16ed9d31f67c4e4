"""Artifacts that a node has pulled, on its local disk: the processes of one node pull each of them once.

Processes wait for each other by a file lock. Every read is checked by its hash, so that nothing is believed that was
written into the folder. The artifacts used longest ago are removed when the folder grows beyond its limit.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog

from orchestrator.storage.durable_files import write_durably

log = structlog.get_logger()


class NodeCache:
    """A folder of artifacts by their hash, shared by all processes of a node and user."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder, self._most_bytes = folder, most_bytes

    def get(self, sha256: str, size: int, pull: Callable[[], bytes]) -> bytes:
        """The bytes with this hash; `pull` gets them, if no process of this node has, and checks them itself."""
        if size > self._most_bytes or not self._usable():
            return pull()
        path = self._folder / sha256[:2] / sha256
        if (found := self._read(path, sha256)) is not None:
            return found
        with self._lock(sha256[:2]):
            if (found := self._read(path, sha256)) is not None:
                return found  # another process has pulled it meanwhile
            data = pull()
            try:
                write_durably(path, data)
                self._evict(path)
            except OSError as error:
                log.warning("an artifact cannot be cached on this node", problem=str(error))
            return data

    def _usable(self) -> bool:
        """Whether the folder is there and this user's own: another one's could hold back what is in it."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return self._folder.stat().st_uid == os.getuid()
        except OSError:
            return False

    @staticmethod
    def _read(path: Path, sha256: str) -> bytes | None:
        try:
            data = path.read_bytes()
        except OSError:
            return None
        if hashlib.sha256(data).hexdigest() != sha256:
            log.warning("a cached artifact is damaged; it is pulled again", sha256=sha256)
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)  # used now: the oldest go first
        return data

    def _evict(self, newest: Path) -> None:
        """Remove what was used longest ago until the rest fits; one process at a time."""
        with self._lock("evict"):
            files = []
            for path in self._folder.glob("??/*"):
                with suppress(OSError):
                    found = path.stat()
                    files.append((found.st_mtime_ns, found.st_size, path))
            total = sum(size for _, size, _ in files)
            for _, size, path in sorted(files):
                if total <= self._most_bytes:
                    return
                if path != newest:
                    with suppress(OSError):
                        path.unlink()
                    total -= size

    @contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        """Held by one process at a time; the kernel releases it if that process dies."""
        with (self._folder / f"{name}.lock").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
