"""Content-addressed artifacts on a local folder or an object store, by fsspec.

A large artifact lies in parts (`parts.py`), and a node keeps what it pulled from an object store (`node_cache.py`).
Those who use the store know of neither.

See docs/decisions/checkpoints-and-artifacts.md.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fsspec.implementations.local import LocalFileSystem

from league.types import CheckpointRef
from orchestrator.storage import parts
from orchestrator.storage.artifact_errors import (
    ArtifactError,
    ArtifactStoreFull,
    ArtifactStoreUnavailable,
    DamagedArtifact,
    MissingArtifact,
    is_called_unreadable,
    unreadable,
)
from orchestrator.storage.filesystems import asking, open_filesystem, read_file, write_whole
from orchestrator.storage.node_cache import NodeCache, node_cache
from orchestrator.storage.part_files import PartFiles
from orchestrator.storage.parts import Block, PartIndex
from orchestrator.storage.single_files import checked_blocks

__all__ = [
    "ArtifactError",
    "ArtifactStore",
    "ArtifactStoreFull",
    "ArtifactStoreUnavailable",
    "Collected",
    "DamagedArtifact",
    "MissingArtifact",
    "StoredFile",
    "is_called_unreadable",
    "open_filesystem",
    "unreadable",
    "write_whole",
]

_KIND = re.compile(r"[a-z][a-z0-9_]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_OURS = re.compile(r"[0-9a-f]{64}|[0-9a-f]{32}\.partial")


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
        """The sha256 of the artifact that the file is, or is a part of."""
        return posixpath.basename(parts.whole_path(self.path) if parts.is_ours(self.path) else self.path)

    @property
    def kind(self) -> str:
        return parts.whole_path(self.path).rsplit("/", 3)[-3]


class ArtifactStore:
    """Immutable byte strings under `<root>/<kind>/<first two digits>/<sha256>`, large ones in parts there.

    A reference is looked up by the tail of its uri, so a store may be moved or copied as a whole.
    """

    def __init__(self, root_url: str) -> None:
        self.root_url = root_url
        self._fs, self._root = open_filesystem(root_url)
        self._in_parts = PartFiles(self._fs)
        self._cache = None if isinstance(self._fs, LocalFileSystem) else node_cache()

    def __reduce__(self) -> tuple[type[ArtifactStore], tuple[str]]:
        return ArtifactStore, (self.root_url,)

    # Write

    def put(self, data: bytes, *, kind: str) -> CheckpointRef:
        """Store the bytes under their hash; the same bytes twice are one artifact.

        Bytes that exist are written again. This repairs a damaged copy, and renews the file's age, so that a running
        garbage collection does not remove it.
        """
        if len(data) > parts.LARGE_BYTES:
            return self.put_blocks(lambda: [data], kind=kind)
        sha256 = hashlib.sha256(data).hexdigest()
        path = self._place(kind, sha256)
        write_whole(self._fs, path, data)
        return CheckpointRef(uri=self._uri(path), sha256=sha256, size=len(data))

    def put_blocks(self, content: Callable[[], Iterable[Block]], *, kind: str) -> CheckpointRef:
        """Store bytes that are too many to have twice in memory: `content` is asked for them twice, the first time for
        their hash. A few parts are in memory at once.
        """
        whole, size = hashlib.sha256(), 0
        for block in content():
            whole.update(block)
            size += memoryview(block).nbytes
        return self._put_known(content(), kind, whole.hexdigest(), size)

    def copy(self, ref: CheckpointRef, source: ArtifactStore) -> CheckpointRef:
        """Store another store's artifact here, block by block, checked on its way."""
        return self._put_known(source.blocks(ref, cached=False), ref.uri.rsplit("/", 3)[-3], ref.sha256, ref.size)

    def _put_known(self, blocks: Iterable[Block], kind: str, sha256: str, size: int) -> CheckpointRef:
        path = self._place(kind, sha256)
        if size > parts.LARGE_BYTES:
            self._in_parts.write(path, blocks, sha256)
        else:
            write_whole(self._fs, path, b"".join(blocks))
        return CheckpointRef(uri=self._uri(path), sha256=sha256, size=size)

    # Read

    def get(self, ref: CheckpointRef) -> bytes:
        """The artifact's bytes, checked against the reference's hash."""
        data = self.read(ref)
        return data if isinstance(data, bytes) else bytes(data)

    def read(self, ref: CheckpointRef) -> bytes | bytearray:
        """Like `get`, but a large artifact comes in one bytearray, of which there is no second copy in memory."""
        path, index, data = self._find(ref, self._cache)
        if index is None:
            return data
        whole, start = bytearray(index.size), 0
        for block in self._in_parts.blocks(path, index, self._cache):
            whole[start : start + len(block)] = block
            start += len(block)
        return whole

    def blocks(self, ref: CheckpointRef, *, cached: bool = True) -> Iterator[bytes]:
        """The artifact's bytes in blocks, each checked before it is handed out; a few are in memory at once.

        `cached`: also from this node's disk, where the store is remote.
        """
        if self._lies_in_one_large_file(ref):
            path = self._path(ref)
            yield from checked_blocks(Path(path), self._uri(path), ref)
            return
        path, index, data = self._find(ref, self._cache if cached else None)
        if index is None:
            yield data
        else:
            yield from self._in_parts.blocks(path, index, self._cache if cached else None)

    def verify(self, ref: CheckpointRef) -> None:
        """Read all of it in the store itself; raises MissingArtifact or DamagedArtifact if it is not whole."""
        for _ in self.blocks(ref, cached=False):
            pass

    def _lies_in_one_large_file(self, ref: CheckpointRef) -> bool:
        """Whether an older release stored it in this folder; what an object store has comes whole all the same."""
        if ref.size <= parts.LARGE_BYTES or not isinstance(self._fs, LocalFileSystem):
            return False
        return self._in_parts.index(self._path(ref), ref) is None

    def _find(self, ref: CheckpointRef, cache: NodeCache | None) -> tuple[str, PartIndex | None, bytes]:
        """The artifact's path, with its index if it lies in parts, and its bytes if it does not."""
        path = self._path(ref)
        if ref.size > parts.LARGE_BYTES and (index := self._in_parts.index(path, ref)) is not None:
            return path, index, b""
        try:
            return path, None, self._file(path, ref, cache)
        except MissingArtifact:
            if ref.size > parts.LARGE_BYTES or (index := self._in_parts.index(path, ref)) is None:
                raise
            return path, index, b""

    def _file(self, path: str, ref: CheckpointRef, cache: NodeCache | None) -> bytes:
        def pull() -> bytes:
            data = read_file(self._fs, path, MissingArtifact(self._uri(path), ref.sha256))
            if (found := hashlib.sha256(data).hexdigest()) != ref.sha256:
                raise DamagedArtifact(self._uri(path), ref.sha256, found, ref.size, len(data))
            return data

        return pull() if cache is None else cache.get(ref.sha256, ref.size, pull)

    # Manage

    def discard(self, ref: CheckpointRef) -> None:
        """Remove an artifact that nothing refers to, at once; nothing happens if there is none."""
        path = self._path(ref)
        with suppress(FileNotFoundError), asking(self._fs, path):
            self._fs.rm_file(path)
        if ref.size > parts.LARGE_BYTES:
            # the index first: what is left, should this process die, is garbage and no damaged artifact
            for file in (parts.index_path(path), *self._in_parts.sizes(path)):
                self._remove_file(file)

    def free_bytes(self) -> int | None:
        """Free space of a local store's disk; None for an object store, which has no such limit."""
        if not isinstance(self._fs, LocalFileSystem):
            return None
        folder = Path(self._root)
        while not folder.exists():
            folder = folder.parent
        return shutil.disk_usage(folder).free

    def exists(self, ref: CheckpointRef) -> bool:
        """Whether the artifact is there; only `get` and `verify` check its bytes."""
        path = self._path(ref)
        with asking(self._fs, path):
            return bool(self._fs.exists(path)) or bool(self._fs.exists(parts.index_path(path)))

    def has_expected_size(self, ref: CheckpointRef) -> bool:
        """Whether all files are there with the right sizes: finds missing and truncated ones without reading them."""
        path = self._path(ref)
        try:
            index = self._in_parts.index(path, ref) if ref.size > parts.LARGE_BYTES else None
            if index is None:
                with asking(self._fs, path):
                    return int(self._fs.info(path)["size"]) == ref.size
        except (FileNotFoundError, DamagedArtifact):
            return False
        found = {posixpath.basename(name): size for name, size in self._in_parts.sizes(path).items()}
        return all(found.get(part.name) == part.size for part in index.parts)

    def stored(self) -> Iterator[CheckpointRef]:
        """Every artifact of the store, by name and size; only the indexes of large ones are read."""
        in_parts: set[str] = set()
        for path, info in self._files():
            whole = parts.whole_path(path)
            ref = CheckpointRef(uri=self._uri(whole), sha256=posixpath.basename(whole), size=int(info["size"]))
            if parts.is_index(path):
                in_parts.add(whole)
                yield replace(ref, size=self._in_parts.size(whole, ref.sha256))
            elif _SHA256.fullmatch(posixpath.basename(path)) and path not in in_parts:
                yield ref  # an older release may have stored in one file what is there in parts too

    def files_older_than(self, older_than: timedelta, *, now: datetime | None = None) -> list[StoredFile]:
        """All files older than `older_than`, including partial files of killed writers; candidates for `remove`."""
        limit = (now or datetime.now(UTC)) - older_than
        found = [
            StoredFile(path=path, size=int(info["size"]), modified=modified)
            for path, info in self._files()
            if (modified := self._modified(path, info)) is not None
        ]
        newest: dict[str, datetime] = {}
        for file in found:  # an artifact whose parts are still being written is as young as the newest of them
            whole = parts.whole_path(file.path)
            newest[whole] = max(file.modified, newest.get(whole, file.modified))
        return [file for file in found if newest[parts.whole_path(file.path)] < limit]

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
            with asking(self._fs, path):
                modified: datetime = self._fs.modified(path)
        except FileNotFoundError:
            return None
        return modified

    def _remove_if_before(self, path: str, limit: datetime) -> bool:
        # The age is read at the last moment, because a put may have renewed it since the listing.
        try:
            with asking(self._fs, path):
                if self._fs.modified(path) >= limit:
                    return False
        except FileNotFoundError:
            return False
        return self._remove_file(path)

    def _remove_file(self, path: str) -> bool:
        try:
            with asking(self._fs, path):
                self._fs.rm_file(path)
        except FileNotFoundError:
            return False
        if isinstance(self._fs, LocalFileSystem) and parts.is_in_parts(path):
            with suppress(OSError):  # other parts are left
                Path(path).parent.rmdir()
        return True

    def _files(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Artifacts and partial files; other files under the root are not part of the store.

        An index comes before its parts: should a removal end halfway, no index is left that names what is gone.
        """
        self._fs.invalidate_cache()  # some file systems cache listings in spite of the option
        with asking(self._fs, self._root):
            found = self._fs.find(self._root, detail=True) if self._fs.exists(self._root) else {}
        for path, info in sorted(
            found.items(), key=lambda each: (parts.whole_path(each[0]), parts.removal_key(each[0]))
        ):
            if _OURS.fullmatch(posixpath.basename(path)) or parts.is_ours(path):
                yield path, info

    def _place(self, kind: str, sha256: str) -> str:
        if not _KIND.fullmatch(kind):
            raise ValueError(f"artifact kind {kind!r}: allowed are lower-case words like 'checkpoint'")
        return posixpath.join(self._root, kind, sha256[:2], sha256)

    def _path(self, ref: CheckpointRef) -> str:
        tail = ref.uri.rsplit("/", 3)[-3:]
        well_formed = len(tail) == 3 and _KIND.fullmatch(tail[0]) and _SHA256.fullmatch(ref.sha256)
        if not well_formed or tail[1:] != [ref.sha256[:2], ref.sha256]:
            raise MissingArtifact(ref.uri, ref.sha256)
        return posixpath.join(self._root, *tail)

    def _uri(self, path: str) -> str:
        return str(self._fs.unstrip_protocol(path))
