"""What a node has pulled from an object store, on its own disk: its processes pull each artifact, or part of one, once.

Processes wait for each other by a file lock. Every read is checked by its hash, so nothing is believed because it lies
there. What was used longest ago makes room. A cache that cannot be used is no obstacle: the artifact is pulled.

See docs/decisions/checkpoints-and-artifacts.md.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog

from orchestrator.settings import ArtifactCacheSettings

log = structlog.get_logger()

SMALLEST = 1 << 20
"""What is smaller is pulled as fast as it is found, and thousands of files would make each eviction slow."""
FREE_BYTES = 1 << 30
"""Space that the cache leaves on its disk."""
_LEFT_BEHIND = 3600.0
"""Seconds after which a temporary file is that of a process that died."""


def node_cache() -> NodeCache | None:
    """The cache that this node's settings describe; None: none."""
    settings = ArtifactCacheSettings.load()
    if not settings.artifact_cache_mb:
        return None
    folder = settings.artifact_cache or Path(tempfile.gettempdir()) / f"lanista-artifacts-{os.getuid()}"
    return NodeCache(folder, settings.artifact_cache_mb << 20)


class NodeCache:
    """A folder of byte strings by their hash, shared by all processes of a node and user."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder, self._most_bytes = folder, most_bytes

    def get(self, sha256: str, size: int, pull: Callable[[], bytes]) -> bytes:
        """The bytes with this hash; `pull` gets and checks them, if no process of this node has. Size 0: not known."""
        if 0 < size < SMALLEST or size > self._most_bytes or not self._usable():
            return pull()
        path = self._folder / sha256[:2] / sha256
        if (found := self._read(path, sha256)) is not None:
            return found
        with self._lock(sha256[:2]):
            if (found := self._read(path, sha256)) is not None:
                return found  # another process has pulled it meanwhile
            data = pull()
            if SMALLEST <= len(data) <= self._most_bytes:
                self._keep(path, data)
            return data

    def _usable(self) -> bool:
        """Whether the folder is there, and nobody else may write into it."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = self._folder.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022

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

    def _keep(self, path: Path, data: bytes) -> None:
        partial = path.with_name(f"{uuid.uuid4().hex}.partial")
        try:
            with self._lock("evict"):
                if not self._make_room(len(data)):
                    return
                path.parent.mkdir(mode=0o700, exist_ok=True)
                # not flushed to the disk: what a crash leaves half written has another hash
                partial.write_bytes(data)
                partial.replace(path)
        except OSError as error:
            log.warning("an artifact cannot be cached on this node", problem=str(error))
            with suppress(OSError):
                partial.unlink()

    def _make_room(self, size: int) -> bool:
        """Remove what was used longest ago until so many bytes fit; False if the disk has no room for them."""
        files = []
        for path in self._folder.glob("??/*"):
            with suppress(OSError):
                found = path.stat()
                if path.suffix and found.st_mtime < time.time() - _LEFT_BEHIND:
                    path.unlink()
                else:
                    files.append((found.st_mtime_ns, found.st_size, path))
        total = sum(size for _, size, _ in files)
        free = shutil.disk_usage(self._folder).free
        for _, freed, path in sorted(files):
            if total + size <= self._most_bytes and free - size >= FREE_BYTES:
                break
            with suppress(OSError):
                path.unlink()
            total, free = total - freed, free + freed
        return free - size >= FREE_BYTES

    @contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        """Held by one process or thread at a time; the kernel releases it if that process dies."""
        with (self._folder / f"{name}.lock").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
