"""Large artifacts lie in parts, and nobody who uses the store knows: references and bytes are as for one file."""

import hashlib
import json
import os
import pickle
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from api.store.backup.write import copy_artifacts
from api.store.checkpoints.damaged import checkpoint_is_intact
from api.store.verify.files import wrong_files
from api.store.verify.report import FindingKind
from league.types import CheckpointRef
from orchestrator.storage import filesystems, parts
from orchestrator.storage.artifacts import (
    ArtifactStore,
    ArtifactStoreUnavailable,
    DamagedArtifact,
    MissingArtifact,
)
from tests.unit.artifacts.moto_server import s3_store

DATA = bytes(range(256)) * 10
"""Of 2,560 bytes: three parts."""
TOMORROW = datetime.now(UTC) + timedelta(days=1)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "LARGE_BYTES", 1_500)
    monkeypatch.setattr(parts, "PART_BYTES", 1_000)


@pytest.fixture(params=["local", "memory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ArtifactStore]:
    monkeypatch.setenv("LANISTA_ARTIFACT_CACHE", str(tmp_path / "cache"))
    if request.param == "s3":
        with s3_store(tmp_path.name, monkeypatch) as found:
            yield found
    else:
        yield ArtifactStore(f"memory://{tmp_path.name}" if request.param == "memory" else str(tmp_path / "artifacts"))


@pytest.fixture
def local(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path / "artifacts"))


def files_of(ref: CheckpointRef) -> list[Path]:
    return sorted(Path(f"{ref.uri.removeprefix('file://')}.parts").iterdir())


def test_a_large_artifact_comes_back_by_every_way_of_reading(store: ArtifactStore) -> None:
    ref = store.put(DATA, kind="checkpoint")
    assert ref.sha256 == hashlib.sha256(DATA).hexdigest() and ref.size == len(DATA)
    assert ref.uri.endswith(f"/checkpoint/{ref.sha256[:2]}/{ref.sha256}")
    assert store.get(ref) == DATA and type(store.get(ref)) is bytes
    assert store.read(ref) == DATA and type(store.read(ref)) is bytearray
    assert [len(block) for block in store.blocks(ref)] == [1_000, 1_000, 560]
    assert store.get(replace(ref, size=0)) == DATA, "as bots that search know only the hash"
    store.verify(ref)
    assert store.exists(ref) and store.has_expected_size(ref) and not store.has_expected_size(replace(ref, size=2_559))
    assert list(store.stored()) == [ref]


def test_what_is_put_in_blocks_is_the_same_artifact(store: ArtifactStore) -> None:
    def content() -> Iterator[memoryview]:
        for start in range(0, len(DATA), 700):
            yield memoryview(DATA)[start : start + 700]

    assert store.put_blocks(content, kind="checkpoint") == store.put(DATA, kind="checkpoint")
    small = store.put_blocks(lambda: [b"sm", b"all"], kind="checkpoint")
    assert store.get(small) == b"small" and small == store.put(b"small", kind="checkpoint")


def test_content_that_changes_while_it_is_stored_is_refused(local: ArtifactStore) -> None:
    times = iter([DATA, DATA[::-1]])
    with pytest.raises(ValueError, match="has changed"):
        local.put_blocks(lambda: [next(times)], kind="checkpoint")
    assert list(local.stored()) == []


def in_one_file(store: ArtifactStore) -> tuple[CheckpointRef, Path]:
    """A large artifact as an older release stored it."""
    sha256 = hashlib.sha256(DATA).hexdigest()
    path = Path(store.root_url) / "checkpoint" / sha256[:2] / sha256
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    return CheckpointRef(uri=f"file://{path}", sha256=sha256, size=len(DATA)), path


def test_a_large_one_of_an_older_release_comes_in_blocks_too(local: ArtifactStore) -> None:
    ref, _ = in_one_file(local)
    assert [len(block) for block in local.blocks(ref)] == [1_000, 1_000, 560]
    assert b"".join(local.blocks(ref)) == local.get(ref) == DATA
    local.verify(ref)


@pytest.mark.parametrize(("damage", "word"), [(DATA[:-1], "cut short"), (DATA[:-1] + b"X", "changed")])
def test_no_block_of_a_damaged_one_of_an_older_release_is_handed_out(
    local: ArtifactStore, damage: bytes, word: str
) -> None:
    ref, path = in_one_file(local)
    path.write_bytes(damage)
    with pytest.raises(DamagedArtifact, match=word):
        next(local.blocks(ref))
    with pytest.raises(DamagedArtifact, match=word):
        local.verify(ref)
    path.unlink()
    with pytest.raises(MissingArtifact):
        next(local.blocks(ref))


def test_discarding_leaves_nothing(store: ArtifactStore) -> None:
    ref = store.put(DATA, kind="partial")
    other = store.put(DATA[::-1], kind="partial")
    store.discard(ref)
    assert not store.exists(ref) and list(store.stored()) == [other] and store.get(other) == DATA[::-1]
    assert len(store.files_older_than(timedelta(0), now=TOMORROW)) == 4
    store.discard(ref)


@pytest.mark.parametrize(
    ("change", "word"), [(lambda data: data[:-1], "cut short"), (lambda data: b"X" + data[1:], "changed")]
)
def test_a_damaged_part_is_refused_by_name(local: ArtifactStore, change, word: str) -> None:
    ref = local.put(DATA, kind="checkpoint")
    part = files_of(ref)[1]
    part.write_bytes(change(part.read_bytes()))
    for read in (local.get, local.read, local.verify, lambda ref: list(local.blocks(ref))):
        with pytest.raises(DamagedArtifact, match=word) as caught:
            read(ref)
        assert part.name in str(caught.value) and ref.uri in str(caught.value)
        assert (caught.value.uri, caught.value.expected) == (ref.uri, ref.sha256), (
            "as for a file: nodes are blamed by it"
        )
        assert pickle.loads(pickle.dumps(caught.value)).part == part.name
    assert local.has_expected_size(ref) is (word == "changed")
    assert not checkpoint_is_intact(local, ref)
    assert [finding.wrong for finding in wrong_files(local, {ref: 1})] == [FindingKind.DAMAGED]
    local.put(DATA, kind="checkpoint")
    assert local.get(ref) == DATA, "putting again repairs it"


def test_blocks_before_a_damaged_part_are_handed_out(local: ArtifactStore) -> None:
    ref = local.put(DATA, kind="checkpoint")
    files_of(ref)[2].write_bytes(b"?")
    blocks = local.blocks(ref)
    assert next(blocks) == DATA[:1_000]
    with pytest.raises(DamagedArtifact):
        list(blocks)


def test_a_missing_part_is_named(local: ArtifactStore) -> None:
    ref = local.put(DATA, kind="checkpoint")
    part = files_of(ref)[0]
    part.unlink()
    with pytest.raises(MissingArtifact, match=part.name):
        local.get(ref)
    assert not local.has_expected_size(ref)
    assert [finding.wrong for finding in wrong_files(local, {ref: 1})] == [FindingKind.ORPHANED]


def test_parts_in_another_order_are_no_whole(local: ArtifactStore) -> None:
    ref = local.put(DATA + DATA[::-1], kind="checkpoint")
    index = files_of(ref)[-1]
    document = json.loads(index.read_bytes())
    document["parts"][0], document["parts"][3] = document["parts"][3], document["parts"][0]
    index.write_text(json.dumps(document))
    for part in files_of(ref)[:-1]:
        number = {0: 3, 3: 0}.get(int(part.name[:5]))
        if number is not None:
            (part.parent / f"{number:05}-{part.name[6:]}").write_bytes(part.read_bytes())
    with pytest.raises(DamagedArtifact, match="changed"):
        local.verify(ref)


@pytest.mark.parametrize("text", ["", "[]", '{"format": 9}', '{"format": 1, "sha256": "x", "size": 1, "parts": []}'])
def test_an_index_that_cannot_be_read_is_damage(local: ArtifactStore, text: str) -> None:
    ref = local.put(DATA, kind="checkpoint")
    files_of(ref)[-1].write_text(text)
    with pytest.raises(DamagedArtifact, match="part index"):
        local.get(ref)
    assert not local.has_expected_size(ref)


def test_an_index_cannot_lead_outside_or_ask_for_memory(local: ArtifactStore, tmp_path: Path) -> None:
    ref = local.put(DATA, kind="checkpoint")
    index = files_of(ref)[-1]
    for wrong in ({"sha256": "../../x", "size": len(DATA)}, {"sha256": "0" * 64, "size": 1 << 60}):
        index.write_text(json.dumps({"format": 1, "sha256": ref.sha256, "size": wrong["size"], "parts": [wrong]}))
        with pytest.raises(DamagedArtifact, match="part index"):
            local.read(ref)


def test_an_artifact_in_one_file_of_an_older_release_is_still_read(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr(parts, "LARGE_BYTES", 1 << 20)
        ref = store.put(DATA, kind="checkpoint")
    assert store.get(ref) == DATA and b"".join(store.blocks(ref)) == DATA and store.has_expected_size(ref)
    store.verify(ref)
    store.put(DATA, kind="checkpoint")
    assert list(store.stored()) == [ref], "one artifact, twice there"
    store.discard(ref)
    assert not store.exists(ref)


def test_collection_takes_an_artifact_with_its_parts_and_spares_what_is_named(store: ArtifactStore) -> None:
    kept, orphan = store.put(DATA, kind="checkpoint"), store.put(DATA[::-1], kind="checkpoint")
    assert store.collect({kept.sha256}, timedelta(hours=1)).uris == ()
    files = store.files_older_than(timedelta(0), now=TOMORROW)
    assert {(file.name, file.kind) for file in files} == {(kept.sha256, "checkpoint"), (orphan.sha256, "checkpoint")}
    assert [file.path.endswith("/index") for file in files] == [True, False, False, False] * 2, "removed in this order"
    collected = store.collect({kept.sha256}, timedelta(hours=1), now=TOMORROW)
    assert len(collected.uris) == 4 and collected.bytes_freed > len(DATA)
    assert list(store.stored()) == [kept] and store.get(kept) == DATA


def test_parts_still_being_written_are_no_garbage(local: ArtifactStore) -> None:
    ref = local.put(DATA, kind="checkpoint")
    for file in files_of(ref)[:2]:
        os.utime(file, (1, 1))
    assert local.files_older_than(timedelta(hours=1)) == []
    for file in files_of(ref):
        os.utime(file, (1, 1))
    aged = local.files_older_than(timedelta(hours=1))
    files_of(ref)[-1].unlink()
    local.put(DATA, kind="checkpoint")  # another attempt writes all parts again
    assert local.remove(aged, timedelta(hours=1)).uris == () and local.get(ref) == DATA


def test_what_a_killed_writer_left_is_no_artifact_but_garbage(
    local: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = filesystems.write_durably

    def killed(path: Path, data: bytes) -> None:
        if path.name == "index":
            raise OSError(5, "killed")
        real(path, data)

    with monkeypatch.context() as dying:
        dying.setattr(filesystems, "write_durably", killed)
        with pytest.raises(ArtifactStoreUnavailable, match="killed"):
            local.put(DATA, kind="checkpoint")
    assert list(local.stored()) == []
    assert len(local.collect(set(), timedelta(0), now=TOMORROW).uris) == 3
    assert not list(Path(local.root_url).rglob("*.parts")), "nor is a folder left"


def test_a_backup_copies_large_artifacts_and_again_nothing(store: ArtifactStore, tmp_path: Path) -> None:
    refs = {store.put(DATA, kind="checkpoint"), store.put(b"small", kind="code")}
    target, said = ArtifactStore(str(tmp_path / "backup")), []
    for _ in range(2):
        assert copy_artifacts(store, target, said.append) == (2, len(DATA) + 5)
    assert ", 2 of them new" in said[0] and ", 0 of them new" in said[1]
    for ref in refs:
        assert target.get(ref) == store.get(ref)


def test_a_store_moved_as_a_whole_still_reads_parts(local: ArtifactStore, tmp_path: Path) -> None:
    ref = local.put(DATA, kind="checkpoint")
    Path(local.root_url).rename(tmp_path / "elsewhere")
    assert ArtifactStore(str(tmp_path / "elsewhere")).get(ref) == DATA
