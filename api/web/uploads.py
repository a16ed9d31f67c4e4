"""Uploads under way: few at once, with space left on the disk, and removed as soon as they are used or refused.

See docs/decisions/api-load.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from api.web.problems import ProblemError
from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.storage.safetensors_header import InvalidHeader, read_header

KIND = "upload"


class Uploads:
    """The uploads of this process."""

    def __init__(self, artifacts: ArtifactStore, *, at_once: int, min_free_bytes: int) -> None:
        self._artifacts = artifacts
        self._at_once = at_once
        self._min_free_bytes = min_free_bytes
        self._under_way = 0
        self._lock = Lock()
        self._used: Counter[str] = Counter()
        """How many requests use each stored file: two may send the same bytes."""

    @contextmanager
    def slot(self, size: int | None) -> Iterator[None]:
        """Room for one more upload of a declared size; 429 or 507 if there is none."""
        if self._under_way >= self._at_once:
            detail = f"{self._at_once} uploads are under way, which is the limit"
            raise ProblemError(429, detail, headers={"Retry-After": "5"})
        free = self._artifacts.free_bytes()
        if free is not None and free - (size or 0) < self._min_free_bytes:
            detail = f"the disk of the artifacts has {free} bytes free, and must keep {self._min_free_bytes}"
            raise ProblemError(507, detail)
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def keep(self, data: bytes) -> CheckpointRef:
        """Store a safetensors file for a worker; 422 if its header shows that it is none."""
        try:
            read_header(data)
        except InvalidHeader as error:
            raise ProblemError(422, f"the body must be a safetensors file: {error}") from None
        with self._lock:
            stored = self._artifacts.put(data, kind=KIND)
            self._used[stored.sha256] += 1
        return stored

    def discard(self, stored: CheckpointRef) -> None:
        """Remove the file, unless another request uses it: the worker has made a checkpoint of it, or refused it."""
        with self._lock:
            self._used[stored.sha256] -= 1
            if not self._used[stored.sha256]:
                del self._used[stored.sha256]
                self._artifacts.discard(stored)
