"""Checkpoints of gigabytes: the same bytes as safetensors writes, in pieces, read as views, with bounded memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save as save_tensors

from orchestrator.catalog import Component
from orchestrator.storage import parts
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.storage.safetensors_header import InvalidHeader
from workers.checkpoints import Checkpoint, UnreadableCheckpoint, decode, encode, load, save, stream
from workers.tensor_stream import can_stream, stream_tensors, tensors_of

TYPES = [
    *(torch.uint64, torch.int64, torch.float64, torch.float32, torch.uint32, torch.int32, torch.bfloat16),
    *(torch.float16, torch.uint16, torch.int16, torch.int8, torch.uint8, torch.bool),
]


def of_all_types() -> dict[str, torch.Tensor]:
    found = {f"{name}/{dtype}": torch.arange(5).to(dtype) for dtype in TYPES for name in ("b", "a", "ä")}
    return found | {"none": torch.empty(0, 3), "number": torch.tensor(3.0), "turned": torch.randn(4, 6).T}


def test_the_bytes_are_those_of_safetensors() -> None:
    tensors, metadata = of_all_types(), {"lanista": json.dumps({"text": 'with "quotes", ä and \n'})}
    packed = {name: tensor.contiguous() for name, tensor in tensors.items()}
    assert b"".join(stream_tensors(tensors, metadata)) == save_tensors(packed, metadata)
    assert can_stream(tensors.values()) and not can_stream([torch.zeros(2, dtype=torch.complex64)])


def test_tensors_are_views_of_the_bytes_each_with_a_storage_of_its_own() -> None:
    tensors = of_all_types()
    data = bytearray(b"".join(stream_tensors(tensors, {})))
    found = tensors_of(data)
    assert found.keys() == tensors.keys()
    for name, tensor in found.items():
        assert tensor.dtype == tensors[name].dtype and torch.equal(tensor, tensors[name])
        assert tensor.untyped_storage().nbytes() == tensor.nbytes, "so a pickle of one is not of all"
    before = found["a/torch.uint8"].clone()
    data[-1] ^= 1
    data[data.rindex(bytes([0, 1, 2, 3, 4]))] ^= 0
    assert torch.equal(found["a/torch.uint8"], before)
    assert any(not torch.equal(found[name], tensors[name]) for name in tensors), "the last byte is a tensor's"


@pytest.mark.parametrize("change", [{"data_offsets": [0, 99]}, {"shape": [9]}, {"dtype": "F7"}, {"shape": "x"}])
def test_a_header_that_leads_outside_is_refused(change: dict[str, object]) -> None:
    header = json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **change}}).encode()
    with pytest.raises(InvalidHeader, match="tensor 'a'"):
        tensors_of(bytearray(len(header).to_bytes(8, "little") + header + bytes(8)))


def large(store: ArtifactStore) -> Checkpoint:
    flat = torch.randn(3_000)
    return Checkpoint(
        model=Component(id="mlp"),
        game=Component(id="connect_four"),
        weights={"one": flat[:1_000].reshape(10, 100), "two": flat[1_000:]},  # views of one tensor, as networks have
        learner={"optimisers/policy/mean": torch.ones(3_000), "step": 12},
        steps=7,
    )


def test_a_large_checkpoint_is_stored_in_pieces_with_the_same_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ArtifactStore(str(tmp_path))
    checkpoint = large(store)
    whole = store.put(encode(checkpoint), kind="checkpoint")
    assert b"".join(stream(checkpoint)) == encode(checkpoint)
    monkeypatch.setattr(parts, "LARGE_BYTES", 5_000)
    monkeypatch.setattr(parts, "PART_BYTES", 4_000)
    monkeypatch.setattr("workers.checkpoints.encode", None)
    ref = save(store, checkpoint)
    assert ref == whole
    found = load(store, ref, like=checkpoint.weights)
    assert found.steps == 7 and found.learner["step"] == 12
    for name, tensor in checkpoint.weights.items():
        assert torch.equal(found.weights[name], tensor)


def test_bytes_that_are_no_checkpoint_are_called_so() -> None:
    data = bytearray(encode(large(ArtifactStore("memory://unused"))))
    assert decode(data).steps == 7
    with pytest.raises(UnreadableCheckpoint):
        decode(data[:-1])
    with pytest.raises(UnreadableCheckpoint):
        decode(bytearray(b"none"))


MEASURED = """
import resource, sys, torch
from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from workers.checkpoints import Checkpoint, load, save

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

store = ArtifactStore(sys.argv[1])
tensors = {str(number): torch.full((16, 1 << 20), float(number)) for number in range(6)}
before = peak()
ref = save(store, Checkpoint(model=Component(id="mlp"), game=Component(id="nim"), weights=tensors))
written = peak() - before
del tensors
store.verify(ref)
print(written, peak() - before - written, ref.size >> 20)
"""


def test_writing_and_checking_takes_memory_for_a_few_parts_only(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(tmp_path)], capture_output=True, text=True, check=True, timeout=300
    )
    written, verified, size = map(int, done.stdout.split())
    assert size == 384
    # four parts of 32 MB under way and one being filled; a copy of the whole would be 384 MB
    assert written < 300 and verified < 300
