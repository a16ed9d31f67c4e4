"""Large artifacts in shards: content-addressed pieces of bounded size, and an index that names them.

The index is an artifact of its own kind, and the reference of the whole is the index's: its hash covers those of all
shards. Shards are written and read in parallel, a few at a time: memory is bounded by them, not by the whole.

See docs/decisions/checkpoints-and-artifacts.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactStore, DamagedArtifact, MissingArtifact, unreadable

INDEX_KIND: Final = "sharded"
SHARD_KIND: Final = "shard"
SHARD_BYTES = 64 << 20
AT_ONCE = 4
"""Shards that are written or read at the same time, in one process."""
_FORMAT = 1


class UnreadableIndex(Exception):
    """The index is intact but of a form that this version does not know."""


@dataclass(frozen=True, kw_only=True)
class Index:
    """What a large artifact is made of, in order."""

    size: int
    shards: tuple[CheckpointRef, ...]


def is_sharded(ref: CheckpointRef) -> bool:
    """Whether the reference is that of an index."""
    return ref.uri.rsplit("/", 3)[-3:-2] == [INDEX_KIND]


def write_sharded(store: ArtifactStore, pieces: Iterable[bytes | memoryview]) -> CheckpointRef:
    """Store these bytes, which come piece by piece; returns the reference of the index.

    Equal bytes give equal shards. No more than `AT_ONCE` shards and the next one are in memory.
    """
    under_way: list[Future[CheckpointRef]] = []
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="shards") as pool:
        for shard in _cut(pieces, SHARD_BYTES):
            if len(under_way) >= AT_ONCE:
                under_way[-AT_ONCE].result()  # waits, so that no more are in memory; raises what failed
            under_way.append(pool.submit(store.put, shard, kind=SHARD_KIND))
        refs = [each.result() for each in under_way]
    document = {
        "format": _FORMAT,
        "size": sum(ref.size for ref in refs),
        "shards": [{"sha256": ref.sha256, "size": ref.size} for ref in refs],
    }
    return store.put(json.dumps(document, sort_keys=True, separators=(",", ":")).encode(), kind=INDEX_KIND)


def read_index(store: ArtifactStore, ref: CheckpointRef, *, cached: bool = False) -> Index:
    """The shards of a large artifact; raises UnreadableIndex besides what `ArtifactStore.get` raises."""
    try:
        document = json.loads(store.get(ref, cached=cached))
        if document["format"] != _FORMAT:
            raise ValueError(f"format {document['format']!r}, this version reads {_FORMAT}")
        shards = tuple(store.ref(SHARD_KIND, str(each["sha256"]), int(each["size"])) for each in document["shards"])
        index = Index(size=int(document["size"]), shards=shards)
        if index.size != sum(shard.size for shard in shards):
            raise ValueError("the sizes of its shards do not sum to its own")
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableIndex(unreadable(ref.uri, f"no index of shards: {error}")) from error
    return index


def read_sharded(store: ArtifactStore, ref: CheckpointRef, *, cached: bool = False) -> bytearray:
    """All bytes, in one piece of memory that each shard is copied into; a damaged shard is named."""
    index = read_index(store, ref, cached=cached)
    whole = bytearray(index.size)
    view, start = memoryview(whole), 0

    def fill(shard: CheckpointRef, start: int) -> None:
        data = store.get(shard, cached=cached)
        if len(data) != shard.size:
            raise DamagedArtifact(shard.uri, shard.sha256, shard.sha256, shard.size, len(data))
        view[start : start + shard.size] = data

    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="shards") as pool:
        filled = []
        for shard in index.shards:
            filled.append(pool.submit(fill, shard, start))
            start += shard.size
        for each in filled:
            each.result()
    return whole


def read_whole(store: ArtifactStore, ref: CheckpointRef) -> bytes | bytearray:
    """An artifact's content, sharded or not."""
    return read_sharded(store, ref) if is_sharded(ref) else store.get(ref)


def check_whole(store: ArtifactStore, ref: CheckpointRef) -> None:
    """Read and hash an artifact with all its shards, one in memory at a time; raises what `ArtifactStore.get` does."""
    if not is_sharded(ref):
        store.get(ref)
        return
    for shard in read_index(store, ref).shards:
        store.get(shard)


def whole_has_expected_size(store: ArtifactStore, ref: CheckpointRef) -> bool:
    """Whether the artifact and all its shards are there with the right sizes; the index alone is read."""
    if not store.has_expected_size(ref):
        return False
    if not is_sharded(ref):
        return True
    try:
        return all(store.has_expected_size(shard) for shard in read_index(store, ref).shards)
    except (MissingArtifact, DamagedArtifact, UnreadableIndex):
        return False


def named_shards(store: ArtifactStore, refs: Iterable[CheckpointRef]) -> set[str]:
    """The hashes of the shards that these artifacts consist of; an index that cannot be read names none."""
    found: set[str] = set()
    for ref in refs:
        if is_sharded(ref):
            try:
                found.update(shard.sha256 for shard in read_index(store, ref).shards)
            except (MissingArtifact, DamagedArtifact, UnreadableIndex):
                continue  # its version cannot be read either, whatever becomes of the shards
    return found


def _cut(pieces: Iterable[bytes | memoryview], size: int) -> Iterator[bytes]:
    """The same bytes in pieces of this size, the last one shorter."""
    held = bytearray()
    for piece in pieces:
        rest = memoryview(piece).cast("B")
        while len(rest):
            taken = min(size - len(held), len(rest))
            held += rest[:taken]
            rest = rest[taken:]
            if len(held) == size:
                yield bytes(held)
                held.clear()
    if held:
        yield bytes(held)
