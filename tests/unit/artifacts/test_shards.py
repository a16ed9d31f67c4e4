"""Large checkpoints in shards: streamed, in parallel, refused by name where one is damaged, and collected with it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import torch

from league.types import CheckpointRef
from orchestrator.catalog import Component
from orchestrator.storage import shards
from orchestrator.storage.artifacts import ArtifactStore, DamagedArtifact, MissingArtifact
from workers.checkpoints import Checkpoint, UnreadableCheckpoint, decode, encode, load, save, stream
from workers.tensor_stream import stream_tensors, tensors_of

GAME, MODEL = Component(id="tic_tac_toe"), Component(id="mlp")
SHARD = 1 << 20


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_BYTES", SHARD)


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path / "artifacts"))


def checkpoint(megabytes: int = 20, seed: int = 1) -> Checkpoint:
    made = torch.Generator().manual_seed(seed)
    return Checkpoint(
        model=MODEL,
        game=GAME,
        weights={"body.weight": torch.randn(megabytes << 17, generator=made), "body.bias": torch.randn(3, 5)},
        learner={
            "optimisers/policy/mean": torch.randn(megabytes << 17, generator=made),
            "optimisers/policy/updates": 7,
            "nets/count": torch.tensor(3),
            "nets/half": torch.randn(33, generator=made).bfloat16(),
            "nets/mask": torch.tensor([True, False]),
            "nets/none": torch.zeros(0, 4),
        },
        rng={"seed": 5},
        steps=12,
    )


def equal(one: Checkpoint, other: Checkpoint) -> bool:
    for section in ("weights", "learner", "rng"):
        mine, theirs = getattr(one, section), getattr(other, section)
        if mine.keys() != theirs.keys():
            return False
        for name, value in mine.items():
            same = torch.equal(value, theirs[name]) if isinstance(value, torch.Tensor) else value == theirs[name]
            if not same or (isinstance(value, torch.Tensor) and value.dtype != theirs[name].dtype):
                return False
    return (one.steps, one.model, one.game) == (other.steps, other.model, other.game)


def test_a_large_checkpoint_comes_back_from_its_shards(store: ArtifactStore) -> None:
    made = checkpoint()
    ref = save(store, made)
    index = shards.read_index(store, ref)
    assert shards.is_sharded(ref) and len(index.shards) == 21
    assert {shard.size for shard in index.shards[:-1]} == {SHARD} and index.size > 20 << 20
    assert equal(load(store, ref), made)
    assert equal(decode(bytes(shards.read_whole(store, ref))), made), "the whole is a safetensors file that others read"
    assert save(store, made) == ref, "equal training gives equal references"
    shards.check_whole(store, ref)
    assert shards.whole_has_expected_size(store, ref)


def test_a_small_checkpoint_is_one_file_as_ever(store: ArtifactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_BYTES", 64 << 20)
    made = checkpoint(megabytes=1)
    ref = save(store, made)
    assert not shards.is_sharded(ref) and store.get(ref) == encode(made) == shards.read_whole(store, ref)
    monkeypatch.setattr(shards, "SHARD_BYTES", SHARD)
    assert equal(load(store, ref), made), "whatever the size of shards is now"


def test_a_damaged_or_missing_shard_is_refused_by_name(store: ArtifactStore) -> None:
    ref = save(store, checkpoint())
    third = shards.read_index(store, ref).shards[2]
    path = Path(third.uri.removeprefix("file://"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    for read in (load, shards.read_whole, shards.check_whole):
        with pytest.raises(DamagedArtifact, match=third.sha256):
            read(store, ref)
    assert shards.whole_has_expected_size(store, ref), "nothing was read"
    path.unlink()
    for read in (load, shards.check_whole):
        with pytest.raises(MissingArtifact, match=third.sha256):
            read(store, ref)
    assert not shards.whole_has_expected_size(store, ref)
    assert shards.named_shards(store, [ref]) >= {third.sha256}


def test_an_index_of_another_form_is_called_unreadable(store: ArtifactStore) -> None:
    for text in (b"{}", b"not JSON", b'{"format":9,"shards":[],"size":0}', b'{"format":1,"shards":[],"size":3}'):
        ref = store.put(text, kind=shards.INDEX_KIND)
        with pytest.raises(UnreadableCheckpoint, match=f"{ref.sha256} is whole and cannot be read"):
            load(store, ref)
        assert shards.named_shards(store, [ref]) == set()


def test_checkpoints_share_the_shards_that_are_equal(store: ArtifactStore) -> None:
    made = checkpoint()
    first = save(store, made)
    made.weights["body.weight"][-1] += 1.0
    second = save(store, made)
    both = [shards.named_shards(store, [ref]) for ref in (first, second)]
    assert first != second and len(both[0] & both[1]) >= 19


def test_no_more_than_a_few_shards_are_written_at_once(store: ArtifactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead, written = [], []
    put = ArtifactStore.put

    def counting(self: ArtifactStore, data: bytes, *, kind: str) -> CheckpointRef:
        ref = put(self, data, kind=kind)
        written.append(len(data))
        return ref

    def pieces() -> object:
        for number in range(40):
            ahead.append(number - len(written))
            yield bytes([number]) * SHARD

    monkeypatch.setattr(ArtifactStore, "put", counting)
    shards.write_sharded(store, pieces())  # type: ignore[arg-type]
    assert len(written) == 41 and max(ahead) <= shards.AT_ONCE + 1


def test_a_stream_is_a_safetensors_file_that_is_read_without_copying() -> None:
    made = checkpoint(megabytes=1)
    data = bytearray(b"".join(stream(made)))
    assert equal(decode(bytes(data)), made)
    views = tensors_of(data)
    before = views["weights/body.weight"][0].item()
    start = views["weights/body.weight"].data_ptr()
    views["weights/body.weight"][0] += 1
    assert tensors_of(data)["weights/body.weight"][0].item() != before
    assert tensors_of(data)["weights/body.weight"].data_ptr() == start
    assert b"".join(stream_tensors({}, {"a": "b"}))[8:].strip() == b'{"__metadata__":{"a":"b"}}'


def test_old_partial_files_and_unnamed_shards_are_listed_for_collection(store: ArtifactStore) -> None:
    kept, dropped = save(store, checkpoint(seed=1)), save(store, checkpoint(seed=2))
    named = {kept.sha256} | shards.named_shards(store, [kept])
    later = datetime.now(UTC) + timedelta(days=1)
    removed = store.collect(named, timedelta(hours=1), now=later)
    assert any(dropped.sha256 in uri for uri in removed.uris) and len(removed.uris) > 15
    assert equal(load(store, kept), checkpoint(seed=1)) or load(store, kept).steps == 12
    with pytest.raises(MissingArtifact):
        load(store, dropped)
