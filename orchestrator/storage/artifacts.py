"""Content-addressed artifacts on a local folder or an object store, by fsspec.

Errors, all of which survive pickling on their way through Ray and Temporal:

    ArtifactError
    ├── ArtifactStoreUnavailable   the store cannot be opened, read or written
    │   └── ArtifactStoreFull      no space (or quota) left; nothing was stored
    ├── MissingArtifact            the reference names nothing in this store
    └── DamagedArtifact            the bytes are not those that were stored

See docs/decisions/checkpoints-and-artifacts.md.
"""

from __future__ import annotations

import errno
import hashlib
import posixpath
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import fsspec
from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem

from league.types import CheckpointRef
from orchestrator.storage.durable_files import write_durably
from orchestrator.storage.uris import without_secrets

_KIND = re.compile(r"[a-z][a-z0-9_]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_OURS = re.compile(r"[0-9a-f]{64}|[0-9a-f]{32}\.partial")
_UNREADABLE = "is whole and cannot be read"
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


class ArtifactError(Exception):
    """The base of all errors of artifacts."""


class ArtifactStoreUnavailable(ArtifactError):
    """The store cannot be opened, read or written."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(uri, reason)
        self.uri, self.reason = uri, reason

    def __str__(self) -> str:
        return f"artifact store: {without_secrets(self.uri)}: {self.reason}"


class ArtifactStoreFull(ArtifactStoreUnavailable):
    """There is no space left for the artifact; nothing was stored."""


class MissingArtifact(ArtifactError):
    """The reference names nothing in this store."""

    def __init__(self, uri: str, sha256: str) -> None:
        super().__init__(uri, sha256)
        self.uri, self.sha256 = uri, sha256

    def __str__(self) -> str:
        return f"artifact {without_secrets(self.uri)} is missing (sha256 {self.sha256})"


class DamagedArtifact(ArtifactError):
    """The bytes found are not the bytes stored: truncated, longer or changed."""

    def __init__(self, uri: str, expected: str, found: str, expected_size: int, found_size: int) -> None:
        super().__init__(uri, expected, found, expected_size, found_size)
        self.uri, self.expected, self.found = uri, expected, found
        self.expected_size, self.found_size = expected_size, found_size

    def __str__(self) -> str:
        if self.found_size < self.expected_size:
            what = "cut short"
        else:
            what = "longer than it was" if self.found_size > self.expected_size else "changed"
        return (
            f"artifact {without_secrets(self.uri)} is damaged ({what}): expected {self.expected_size} bytes with "
            f"sha256 {self.expected}, found {self.found_size} bytes with sha256 {self.found}"
        )


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What one garbage collection removed."""

    uris: tuple[str, ...]
    bytes_freed: int


@dataclass(frozen=True, kw_only=True)
class StoredFile:
    """A file of the store: an artifact, or a partial file of a killed writer."""

    path: str
    size: int
    modified: datetime

    @property
    def name(self) -> str:
        """An artifact's sha256."""
        return posixpath.basename(self.path)

    @property
    def kind(self) -> str:
        return self.path.rsplit("/", 3)[-3]


class ArtifactStore:
    """Immutable byte strings under `<root>/<kind>/<first two digits>/<sha256>`.

    A reference is looked up by the tail of its uri, so a store may be moved or copied as a whole.
    """

    def __init__(self, root_url: str) -> None:
        self.root_url = root_url
        self._fs, self._root = open_filesystem(root_url)

    def __reduce__(self) -> tuple[type[ArtifactStore], tuple[str]]:
        return ArtifactStore, (self.root_url,)

    def put(self, data: bytes, *, kind: str) -> CheckpointRef:
        """Store the bytes under their hash; the same bytes twice are one artifact.

        Bytes that exist are written again. This repairs a damaged copy, and renews the file's age, so that a running
        garbage collection does not remove it.
        """
        if not _KIND.fullmatch(kind):
            raise ValueError(f"artifact kind {kind!r}: allowed are lower-case words like 'checkpoint'")
        sha256 = hashlib.sha256(data).hexdigest()
        path = posixpath.join(self._root, kind, sha256[:2], sha256)
        write_whole(self._fs, path, data)
        return CheckpointRef(uri=self._uri(path), sha256=sha256, size=len(data))

    def get(self, ref: CheckpointRef) -> bytes:
        """The artifact's bytes, checked against the reference's hash."""
        path = self._path(ref)
        try:
            data = bytes(self._fs.cat_file(path))
        except FileNotFoundError as error:
            raise MissingArtifact(self._uri(path), ref.sha256) from error
        except OSError as error:
            raise ArtifactStoreUnavailable(self._uri(path), error.strerror or str(error)) from error
        found = hashlib.sha256(data).hexdigest()
        if found != ref.sha256:
            raise DamagedArtifact(self._uri(path), ref.sha256, found, ref.size, len(data))
        return data

    def discard(self, ref: CheckpointRef) -> None:
        """Remove an artifact that nothing refers to, at once; nothing happens if there is none."""
        with suppress(FileNotFoundError):
            self._fs.rm_file(self._path(ref))

    def free_bytes(self) -> int | None:
        """Free space of a local store's disk; None for an object store, which has no such limit."""
        if not isinstance(self._fs, LocalFileSystem):
            return None
        folder = Path(self._root)
        while not folder.exists():
            folder = folder.parent
        return shutil.disk_usage(folder).free

    def exists(self, ref: CheckpointRef) -> bool:
        """Whether there is a file for the reference; only `get` checks its bytes."""
        return bool(self._fs.exists(self._path(ref)))

    def has_expected_size(self, ref: CheckpointRef) -> bool:
        """Whether there is a file of the right size: finds missing and truncated files without reading them."""
        path = self._path(ref)
        try:
            return int(self._fs.info(path)["size"]) == ref.size
        except FileNotFoundError:
            return False
        except OSError as error:
            raise ArtifactStoreUnavailable(self._uri(path), error.strerror or str(error)) from error

    def stored(self) -> Iterator[CheckpointRef]:
        """Every artifact of the store, by name and size; nothing is read."""
        for path, info in self._files():
            name = posixpath.basename(path)
            if _SHA256.fullmatch(name):
                yield CheckpointRef(uri=self._uri(path), sha256=name, size=int(info["size"]))

    def files_older_than(self, older_than: timedelta, *, now: datetime | None = None) -> list[StoredFile]:
        """All files older than `older_than`, including partial files of killed writers; candidates for `remove`."""
        limit = (now or datetime.now(UTC)) - older_than
        return [
            StoredFile(path=path, size=int(info["size"]), modified=modified)
            for path, info in self._files()
            if (modified := self._modified(path, info)) is not None and modified < limit
        ]

    def remove(self, files: Iterable[StoredFile], older_than: timedelta, *, now: datetime | None = None) -> Collected:
        """Remove the files that are still older than `older_than`; one that was put again meanwhile stays."""
        limit = (now or datetime.now(UTC)) - older_than
        removed = [file for file in files if self._remove_if_before(file.path, limit)]
        return Collected(
            uris=tuple(self._uri(file.path) for file in removed), bytes_freed=sum(file.size for file in removed)
        )

    def collect(self, referenced: set[str], older_than: timedelta, *, now: datetime | None = None) -> Collected:
        """Remove files older than `older_than` whose sha256 is not in `referenced`, partial files included.

        The age must exceed the longest time between a put and the commit that refers to it.
        """
        unnamed = [file for file in self.files_older_than(older_than, now=now) if file.name not in referenced]
        return self.remove(unnamed, older_than, now=now)

    def _modified(self, path: str, info: Mapping[str, Any]) -> datetime | None:
        """When a listed file was put; None if it is gone since."""
        # The listing of an object store has the time; asking for each file would be one request per file.
        listed = info.get("LastModified", info.get("last_modified"))
        if isinstance(listed, datetime):
            return listed
        try:
            modified: datetime = self._fs.modified(path)
        except FileNotFoundError:
            return None
        return modified

    def _remove_if_before(self, path: str, limit: datetime) -> bool:
        # The age is read at the last moment, because a put may have renewed it since the listing.
        try:
            if self._fs.modified(path) >= limit:
                return False
            self._fs.rm_file(path)
        except FileNotFoundError:
            return False
        return True

    def _files(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Artifacts and partial files; other files under the root are not part of the store."""
        self._fs.invalidate_cache()  # some file systems cache listings in spite of the option
        found = self._fs.find(self._root, detail=True) if self._fs.exists(self._root) else {}
        for path, info in sorted(found.items()):
            if _OURS.fullmatch(posixpath.basename(path)):
                yield path, info

    def _path(self, ref: CheckpointRef) -> str:
        parts = ref.uri.rsplit("/", 3)[-3:]
        well_formed = len(parts) == 3 and _KIND.fullmatch(parts[0]) and _SHA256.fullmatch(ref.sha256)
        if not well_formed or parts[1:] != [ref.sha256[:2], ref.sha256]:
            raise MissingArtifact(ref.uri, ref.sha256)
        return posixpath.join(self._root, *parts)

    def _uri(self, path: str) -> str:
        return str(self._fs.unstrip_protocol(path))


def unreadable(uri: str, reason: str) -> str:
    """The message for a file whose hash is right but whose content cannot be parsed."""
    return f"{uri} {_UNREADABLE}: {reason}"


def is_called_unreadable(sha256: str, problem: str) -> bool:
    """Whether a message contains that of `unreadable` for this artifact."""
    return f"{sha256} {_UNREADABLE}: " in problem


def open_filesystem(url: str) -> tuple[AbstractFileSystem, str]:
    """The file system of a folder or URL, and the path on it.

    Listings are not cached: an object store would never show what other processes put.
    """
    try:
        try:
            fs, path = fsspec.core.url_to_fs(url, use_listings_cache=False)
        except TypeError:  # some pass every option on to a client that does not know this one, and cache no listings
            fs, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise ArtifactStoreUnavailable(url, str(error)) from error
    return fs, str(path).rstrip("/")


def write_whole(fs: AbstractFileSystem, path: str, data: bytes) -> None:
    """Write all of a file or nothing; raises ArtifactStoreFull or ArtifactStoreUnavailable."""
    try:
        if isinstance(fs, LocalFileSystem):
            write_durably(Path(path), data)
        else:
            fs.pipe_file(path, data)  # one PUT: object stores are atomic per object
    except OSError as error:
        failure = ArtifactStoreFull if error.errno in _NO_SPACE else ArtifactStoreUnavailable
        raise failure(str(fs.unstrip_protocol(path)), error.strerror or str(error)) from error
