"""One pull per node: its processes share a folder on its disk."""

import hashlib
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from orchestrator.storage import node_cache, parts
from orchestrator.storage.artifacts import ArtifactStore, DamagedArtifact, MissingArtifact
from orchestrator.storage.node_cache import NodeCache

DATA = b"weights" * 200_000
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
    cache = NodeCache(tmp_path / "cache", 1 << 30)
    cache.get(SHA256, len(DATA), lambda: DATA)
    (tmp_path / "cache" / SHA256[:2] / SHA256).write_bytes(b"something else")
    pulled: list[int] = []

    def again() -> bytes:
        pulled.append(1)
        return DATA

    assert [cache.get(SHA256, len(DATA), again) for _ in range(2)] == [DATA, DATA]
    assert pulled == [1]


def test_those_used_longest_ago_make_room(tmp_path: Path) -> None:
    folder, size = tmp_path / "cache", node_cache.SMALLEST
    cache = NodeCache(folder, 2 * size + 500)
    contents = [bytes([number]) * size for number in range(3)]
    names = [hashlib.sha256(content).hexdigest() for content in contents]

    def read(number: int) -> None:
        assert cache.get(names[number], size, lambda: contents[number]) == contents[number]

    for number, name in enumerate(names[:2]):
        read(number)
        os.utime(folder / name[:2] / name, (number + 1, number + 1))
    read(0)  # used again: the second is now the oldest
    left = folder / names[0][:2] / f"{'0f' * 16}.partial"
    left.write_bytes(b"of a process that died")
    os.utime(left, (1, 1))
    read(2)
    assert {name for name in names if (folder / name[:2] / name).exists()} == {names[0], names[2]}
    assert not left.exists()
    assert cache.get("f" * 64, 5 * size, lambda: b"large") == b"large", "larger than the whole cache: not kept"
    assert cache.get("f" * 64, 5, lambda: b"small") == b"small" and not (folder / "ff").exists(), "small: not kept"


def test_a_full_disk_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_cache, "FREE_BYTES", 1 << 60)
    assert NodeCache(tmp_path / "cache", 1 << 30).get(SHA256, len(DATA), lambda: DATA) == DATA
    assert not list((tmp_path / "cache").glob("??/*"))


def test_a_folder_that_cannot_be_used_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "open").mkdir(mode=0o777)
    (tmp_path / "open").chmod(0o777)
    for folder in ("file", "open"):
        assert NodeCache(tmp_path / folder, 1 << 30).get(SHA256, len(DATA), lambda: DATA) == DATA
    assert not list((tmp_path / "open").iterdir()), "others could write into it"


def test_a_remote_store_is_pulled_once_and_checks_read_the_store_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(parts, "LARGE_BYTES", 4 << 20)
    monkeypatch.setattr(parts, "PART_BYTES", 2 << 20)
    store = ArtifactStore(f"memory://{tmp_path.name}")
    small, large = store.put(DATA, kind="checkpoint"), store.put(DATA * 4, kind="checkpoint")
    assert store.get(small) == DATA and store.get(large) == DATA * 4
    folder = tmp_path / f"lanista-artifacts-{os.getuid()}"
    assert folder.stat().st_mode & 0o077 == 0
    assert len(list(folder.glob("??/*"))) == 4, "the small one and three parts"
    changed = {path: data for path in store._fs.find(store._root) if (data := store._fs.cat_file(path))[:1] != b"{"}
    for path, data in changed.items():
        store._fs.pipe_file(path, b"X" + data[1:])
    assert ArtifactStore(store.root_url).get(small) == DATA and b"".join(store.blocks(large)) == DATA * 4
    for ref in (small, large):
        with pytest.raises(DamagedArtifact):
            store.verify(ref)
    store.discard(large)
    with pytest.raises(MissingArtifact):
        store.get(large)  # the index is read in the store
    monkeypatch.setenv("LANISTA_ARTIFACT_CACHE_MB", "0")
    with pytest.raises(DamagedArtifact):
        ArtifactStore(store.root_url).get(small)


def test_a_local_folder_is_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_ARTIFACT_CACHE", str(tmp_path / "cache"))
    store = ArtifactStore(str(tmp_path / "store"))
    assert store.get(store.put(DATA, kind="checkpoint")) == DATA
    assert not (tmp_path / "cache").exists()
