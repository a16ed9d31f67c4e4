"""One pull per node: processes share a folder on its disk."""

import hashlib
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactStore, DamagedArtifact
from orchestrator.storage.node_cache import NodeCache

DATA = b"weights" * 100_000
SHA256 = hashlib.sha256(DATA).hexdigest()


def pull_once(folder: Path, pulls: Path, number: int) -> None:
    """In a process of its own: read the artifact through the cache, and leave a mark if it had to be pulled."""

    def pull() -> bytes:
        (pulls / str(number)).touch()
        time.sleep(0.2)
        return DATA

    assert NodeCache(folder, 1 << 30).get(SHA256, len(DATA), pull) == DATA


def test_ten_processes_of_a_node_pull_once(tmp_path: Path) -> None:
    pulls = tmp_path / "pulls"
    pulls.mkdir()
    context = multiprocessing.get_context("fork")
    readers = [context.Process(target=pull_once, args=(tmp_path / "cache", pulls, number)) for number in range(10)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert [reader.exitcode for reader in readers] == [0] * 10
    assert len(list(pulls.iterdir())) == 1


def test_what_is_damaged_in_the_cache_is_pulled_again(tmp_path: Path) -> None:
    cache = NodeCache(tmp_path, 1 << 30)
    cache.get(SHA256, len(DATA), lambda: DATA)
    (tmp_path / SHA256[:2] / SHA256).write_bytes(b"something else")
    pulled: list[int] = []

    def again() -> bytes:
        pulled.append(1)
        return DATA

    assert [cache.get(SHA256, len(DATA), again) for _ in range(2)] == [DATA, DATA]
    assert pulled == [1]


def test_those_used_longest_ago_make_room(tmp_path: Path) -> None:
    cache = NodeCache(tmp_path, 2_500)
    parts = [bytes([number]) * 1_000 for number in range(3)]
    names = [hashlib.sha256(part).hexdigest() for part in parts]

    def read(number: int) -> None:
        assert cache.get(names[number], 1_000, lambda: parts[number]) == parts[number]

    for number, name in enumerate(names[:2]):
        read(number)
        os.utime(tmp_path / name[:2] / name, (number + 1, number + 1))
    read(0)  # used again: the second is now the oldest
    read(2)
    assert {name for name in names if (tmp_path / name[:2] / name).exists()} == {names[0], names[2]}
    assert cache.get("f" * 64, 5_000, lambda: b"large") == b"large", "larger than the whole cache: not kept"
    assert not (tmp_path / "ff").exists()


def test_a_folder_that_cannot_be_used_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    assert NodeCache(tmp_path / "file", 1 << 30).get(SHA256, len(DATA), lambda: DATA) == DATA


def test_a_store_uses_the_cache_for_reads_that_ask_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_ARTIFACT_CACHE", str(tmp_path / "cache"))
    store = ArtifactStore(str(tmp_path / "store"))
    ref = store.put(DATA, kind="checkpoint")
    assert store.get(ref, cached=True) == DATA
    Path(ref.uri.removeprefix("file://")).write_bytes(b"damaged")
    assert store.get(ref, cached=True) == DATA
    with pytest.raises(DamagedArtifact):
        store.get(ref)  # audits and rollbacks see the store itself
    monkeypatch.setenv("LANISTA_ARTIFACT_CACHE_MB", "0")
    with pytest.raises(DamagedArtifact):
        ArtifactStore(str(tmp_path / "store")).get(ref, cached=True)


def test_a_local_folder_is_not_cached_unless_a_folder_is_set(tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path / "store"))
    ref: CheckpointRef = store.put(DATA, kind="checkpoint")
    store.get(ref, cached=True)
    Path(ref.uri.removeprefix("file://")).write_bytes(b"damaged")
    with pytest.raises(DamagedArtifact):
        store.get(ref, cached=True)


def test_an_object_store_is_cached_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = ArtifactStore("memory://cached")
    ref = store.put(DATA, kind="checkpoint")
    assert store.get(ref, cached=True) == DATA
    store.discard(ref)
    assert store.get(ref, cached=True) == DATA
    assert (tmp_path / f"lanista-artifacts-{os.getuid()}").stat().st_mode & 0o077 == 0
