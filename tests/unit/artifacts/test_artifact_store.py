"""The store keeps bytes whole, names what is damaged, and forgets only what is old and unreferenced."""

import errno
import hashlib
import os
import pickle
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import fsspec
import pytest

from lanista.stack.ports import unused_port
from league.types import CheckpointRef
from orchestrator.storage.artifacts import (
    ArtifactStore,
    ArtifactStoreFull,
    ArtifactStoreUnavailable,
    DamagedArtifact,
    MissingArtifact,
)
from tests.unit.artifacts.listing_store import BUCKET, PROTOCOL, ListedFileSystem, register


@pytest.fixture(params=["local", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ArtifactStore:
    name = f"memory://{tmp_path.name}" if request.param == "memory" else str(tmp_path / "artifacts")
    return ArtifactStore(name)


@pytest.fixture
def local(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path / "artifacts"))


def path_of(ref: CheckpointRef) -> Path:
    return Path(ref.uri.removeprefix("file://"))


def test_what_is_put_is_got_back(store: ArtifactStore) -> None:
    ref = store.put(b"weights", kind="checkpoint")
    assert store.get(ref) == b"weights"
    assert ref.sha256 == hashlib.sha256(b"weights").hexdigest()
    assert ref.size == 7
    assert ref.uri.endswith(f"/checkpoint/{ref.sha256[:2]}/{ref.sha256}")


def test_the_same_bytes_twice_are_one_artifact(store: ArtifactStore) -> None:
    first = store.put(b"same", kind="checkpoint")
    assert store.put(b"same", kind="checkpoint") == first
    assert [ref.sha256 for ref in store.stored()] == [first.sha256]


def test_nothing_is_made_before_the_first_put(tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path / "later"))
    assert list(store.stored()) == []
    assert not (tmp_path / "later").exists()


def test_a_missing_artifact_is_named(store: ArtifactStore) -> None:
    ref = store.put(b"here", kind="checkpoint")
    gone = replace(
        ref, uri=ref.uri.replace(ref.sha256, "f" * 64).replace(f"/{ref.sha256[:2]}/", "/ff/"), sha256="f" * 64
    )
    assert not store.exists(gone)
    with pytest.raises(MissingArtifact, match="f" * 64):
        store.get(gone)


@pytest.mark.parametrize(
    ("change", "word"),
    [(lambda data: data[:-1], "cut short"), (lambda data: b"X" + data[1:], "changed")],
)
def test_a_damaged_artifact_is_refused_by_name_and_hashes(local: ArtifactStore, change, word: str) -> None:
    ref = local.put(b"some weights", kind="checkpoint")
    damaged = change(b"some weights")
    path_of(ref).write_bytes(damaged)
    with pytest.raises(DamagedArtifact, match=word) as caught:
        local.get(ref)
    assert ref.uri in str(caught.value)
    assert caught.value.expected == ref.sha256
    assert caught.value.found == hashlib.sha256(damaged).hexdigest()


def test_what_is_missing_or_cut_short_is_seen_unread(store: ArtifactStore) -> None:
    ref = store.put(b"weights", kind="checkpoint")
    assert store.has_expected_size(ref)
    assert not store.has_expected_size(replace(ref, size=8))
    store.collect(set(), timedelta(0), now=datetime.now(UTC) + timedelta(days=1))
    assert not store.has_expected_size(ref)


def test_putting_again_repairs_a_damaged_copy(local: ArtifactStore) -> None:
    ref = local.put(b"good", kind="checkpoint")
    path_of(ref).write_bytes(b"bad!")
    local.put(b"good", kind="checkpoint")
    assert local.get(ref) == b"good"


def test_a_full_disk_stores_nothing_and_says_so(local: ArtifactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(ArtifactStoreFull, match="No space left"):
        local.put(b"too much", kind="checkpoint")
    left = [path for path in Path(local.root_url).rglob("*") if path.is_file()]
    assert left == []


def test_an_unwritable_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ArtifactStoreUnavailable, match="file"):
        ArtifactStore(str(tmp_path / "file")).put(b"x", kind="checkpoint")


class ClientError(Exception):
    """As the clients of object stores have them: no OSError."""


@pytest.mark.parametrize("method", ["cat_file", "pipe_file", "info", "exists", "find", "rm_file"])
def test_an_error_of_an_object_stores_client_is_an_outage(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ArtifactStore(f"memory://{uuid.uuid4()}")
    ref = store.put(b"weights", kind="checkpoint")
    uses: dict[str, Callable[[], object]] = {
        "cat_file": lambda: store.get(ref),
        "pipe_file": lambda: store.put(b"more", kind="checkpoint"),
        "info": lambda: store.has_expected_size(ref),
        "exists": lambda: store.exists(ref),
        "find": lambda: list(store.stored()),
        "rm_file": lambda: store.discard(ref),
    }

    def refuse(*_: object, **__: object) -> None:
        raise ClientError("data after Connection: close")

    monkeypatch.setattr(type(store._fs), method, refuse)
    with pytest.raises(ArtifactStoreUnavailable, match="ClientError: data after Connection: close"):
        uses[method]()


def test_an_object_store_that_refuses_connections_is_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("s3fs", reason="needs `pip install s3fs`")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{unused_port()}")
    store = ArtifactStore("s3://nobody/artifacts")
    ref = CheckpointRef(uri=f"s3://nobody/artifacts/checkpoint/ab/{'ab' * 32}", sha256="ab" * 32, size=3)
    with pytest.raises(ArtifactStoreUnavailable, match="Could not connect"):
        store.get(ref)


def test_an_unknown_protocol_is_refused_at_construction() -> None:
    with pytest.raises(ArtifactStoreUnavailable, match="nosuch"):
        ArtifactStore("nosuch://bucket")


def test_a_bad_kind_is_refused(local: ArtifactStore) -> None:
    with pytest.raises(ValueError, match=r"\.\./escape"):
        local.put(b"x", kind="../escape")


def test_a_reference_cannot_reach_outside_the_store(local: ArtifactStore, tmp_path: Path) -> None:
    secret = b"secret"
    sha256 = hashlib.sha256(secret).hexdigest()
    (tmp_path / sha256).write_bytes(secret)
    for uri in (f"file://{tmp_path}/{sha256}", f"../{sha256[:2]}/{sha256}", sha256):
        with pytest.raises(MissingArtifact):
            local.get(CheckpointRef(uri=uri, sha256=sha256, size=len(secret)))


def test_a_store_moved_as_a_whole_still_serves_its_references(local: ArtifactStore, tmp_path: Path) -> None:
    ref = local.put(b"moved", kind="checkpoint")
    Path(local.root_url).rename(tmp_path / "elsewhere")
    assert ArtifactStore(str(tmp_path / "elsewhere")).get(ref) == b"moved"


def test_collection_spares_the_referenced_and_the_young(store: ArtifactStore) -> None:
    kept = store.put(b"referenced", kind="checkpoint")
    orphan = store.put(b"orphan", kind="checkpoint")
    tomorrow = datetime.now(UTC) + timedelta(days=1)

    assert store.collect({kept.sha256}, timedelta(hours=1)).uris == ()
    collected = store.collect({kept.sha256}, timedelta(hours=1), now=tomorrow)

    assert collected.uris == (orphan.uri,)
    assert collected.bytes_freed == len(b"orphan")
    assert store.get(kept) == b"referenced"
    assert not store.exists(orphan)


def test_collection_takes_leftovers_of_killed_writers_but_no_strangers(local: ArtifactStore) -> None:
    ref = local.put(b"whole", kind="checkpoint")
    folder = path_of(ref).parent
    (folder / f"{'0f' * 16}.partial").write_bytes(b"who")
    (folder / "notes.txt").write_text("not an artifact")
    collected = local.collect({ref.sha256}, timedelta(0), now=datetime.now(UTC) + timedelta(days=1))
    assert [uri.rsplit(".", 1)[1] for uri in collected.uris] == ["partial"]
    assert sorted(path.name for path in folder.iterdir()) == sorted([ref.sha256, "notes.txt"])


def test_putting_again_renews_the_age(local: ArtifactStore) -> None:
    ref = local.put(b"again", kind="checkpoint")
    os.utime(path_of(ref), (0, 0))
    local.put(b"again", kind="checkpoint")
    assert local.collect(set(), timedelta(hours=1)).uris == ()


def test_stores_and_errors_travel_between_processes(local: ArtifactStore) -> None:
    ref = local.put(b"x", kind="checkpoint")
    assert pickle.loads(pickle.dumps(local)).get(ref) == b"x"
    error = pickle.loads(pickle.dumps(DamagedArtifact("u", "aa", "bb", 3, 2)))
    assert (error.uri, error.expected, error.found) == ("u", "aa", "bb")
    assert "cut short" in str(error)


def test_what_was_put_again_since_it_was_found_old_is_not_removed(tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path))
    ref = store.put(b"weights", kind="checkpoint")
    file = Path(ref.uri.removeprefix("file://"))
    os.utime(file, (1, 1))
    aged = store.files_older_than(timedelta(hours=1))
    assert [found.name for found in aged] == [ref.sha256]
    store.put(b"weights", kind="checkpoint")
    assert store.remove(aged, timedelta(hours=1)).uris == () and file.exists()
    os.utime(file, (1, 1))
    assert store.remove(aged, timedelta(hours=1)).bytes_freed == 7 and not file.exists()


@pytest.fixture
def listed(tmp_path: Path) -> Iterator[ArtifactStore]:
    """A store whose file system would answer from listings that it keeps for ever."""
    register()
    BUCKET.objects.clear()
    yield ArtifactStore(f"{PROTOCOL}://{tmp_path.name}")
    BUCKET.objects.clear()


def test_what_another_process_put_since_a_collection_is_there(listed: ArtifactStore) -> None:
    first = listed.put(b"first", kind="checkpoint")
    second = next(
        ref for ref in map(reference_to(listed), map(str, range(10_000))) if ref.sha256[:2] == first.sha256[:2]
    )
    assert listed.collect({first.sha256}, timedelta(hours=1)).uris == ()
    assert not listed.exists(second)
    BUCKET.objects[second.uri.removeprefix(f"{PROTOCOL}://")] = (b"by another", datetime.now(UTC))
    assert listed.exists(first) and listed.exists(second)
    assert {ref.sha256 for ref in listed.stored()} == {first.sha256, second.sha256}


def test_what_another_process_put_again_is_not_removed(listed: ArtifactStore) -> None:
    ref = listed.put(b"weights", kind="checkpoint")
    path = ref.uri.removeprefix(f"{PROTOCOL}://")
    BUCKET.objects[path] = (b"weights", datetime(2020, 1, 1, tzinfo=UTC))
    BUCKET.heads = 0
    aged = listed.files_older_than(timedelta(hours=1))
    assert [file.name for file in aged] == [ref.sha256]
    assert BUCKET.heads <= 1, "the listing has the times; only the root is looked up"
    BUCKET.objects[path] = (b"weights", datetime.now(UTC))
    assert listed.remove(aged, timedelta(hours=1)).uris == ()


def test_a_file_system_that_does_not_know_of_listings_is_opened_all_the_same() -> None:
    class Bare(ListedFileSystem):
        def __init__(self) -> None:
            super().__init__()

    fsspec.register_implementation("bare", Bare, clobber=True)
    assert list(ArtifactStore("bare://root").stored()) == []


def reference_to(store: ArtifactStore) -> Callable[[str], CheckpointRef]:
    """References into the store to what is not there (yet)."""

    def reference(words: str) -> CheckpointRef:
        sha256 = hashlib.sha256(words.encode()).hexdigest()
        return CheckpointRef(uri=f"{store.root_url}/checkpoint/{sha256[:2]}/{sha256}", sha256=sha256, size=1)

    return reference
