"""Checkpoints come back exactly, hash alike for like content, and say what differs when they do not fit."""

import io
import json
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save as save_tensors

from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore, DamagedArtifact, MissingArtifact, is_called_unreadable
from workers.checkpoints import (
    Checkpoint,
    CheckpointMismatch,
    NotWeights,
    UnreadableCheckpoint,
    decode,
    encode,
    load,
    read_weights,
    save,
)


def checkpoint() -> Checkpoint:
    generator = torch.Generator().manual_seed(7)
    return Checkpoint(
        model=Component(id="mlp", options={"hidden": [4, 4]}),
        game=Component(id="connect_four"),
        weights={"body.weight": torch.randn(4, 3, generator=generator), "body.bias": torch.zeros(4)},
        learner={"optimisers/policy/mean": torch.ones(4, 3), "step": 12, "counters/rate": 3e-4},
        rng={"torch": generator.get_state(), "numpy": np.random.default_rng(7).bit_generator.state},
        steps=4_000,
        algorithm=Component(id="my:Dqn", options={"tau": 0.5}),
        buffers=({"rows": 3, "shards": []},),
    )


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path))


def test_everything_comes_back(store: ArtifactStore) -> None:
    before = checkpoint()
    after = load(store, save(store, before))
    for section in ("weights", "learner", "rng"):
        left, right = getattr(before, section), getattr(after, section)
        assert left.keys() == right.keys()
        for name, value in left.items():
            same = torch.equal(value, right[name]) if isinstance(value, torch.Tensor) else value == right[name]
            assert same, f"{section}/{name}"
    assert (after.model, after.game, after.steps) == (before.model, before.game, before.steps)
    assert (after.algorithm, after.buffers) == (before.algorithm, before.buffers)


def test_random_states_go_on_where_they_were(store: ArtifactStore) -> None:
    before = checkpoint()
    after = load(store, save(store, before))
    expected = torch.Generator()
    expected.set_state(before.rng["torch"])
    restored = torch.Generator()
    restored.set_state(after.rng["torch"])
    assert torch.equal(torch.rand(5, generator=restored), torch.rand(5, generator=expected))
    numbers = np.random.default_rng(0)
    numbers.bit_generator.state = after.rng["numpy"]
    assert numbers.integers(1 << 60) == np.random.default_rng(7).integers(1 << 60)


def test_equal_checkpoints_have_equal_bytes_whatever_the_order_and_the_process(tmp_path: Path) -> None:
    original = checkpoint()
    shuffled = replace(
        original,
        weights=dict(reversed(list(original.weights.items()))),
        learner=dict(reversed(list(original.learner.items()))),
    )
    assert encode(shuffled) == encode(original)
    path = tmp_path / "bytes"
    path.write_bytes(encode(original))
    again = "import sys; from workers.checkpoints import *; d = open(sys.argv[1], 'rb').read(); "
    again += "sys.exit(encode(decode(d)) != d)"
    assert subprocess.run([sys.executable, "-c", again, str(path)], check=False).returncode == 0


def test_one_different_bit_gives_another_reference(store: ArtifactStore) -> None:
    first = checkpoint()
    other = replace(first, learner={**first.learner, "step": 13})
    assert save(store, first).sha256 != save(store, other).sha256


def test_views_and_shared_tensors_are_stored_alone(store: ArtifactStore) -> None:
    flat = torch.arange(12.0)
    views = replace(checkpoint(), weights={"a": flat[:6].view(2, 3), "b": flat[3:9], "t": flat.view(3, 4).T})
    after = load(store, save(store, views))
    assert after.weights["b"].tolist() == [3, 4, 5, 6, 7, 8]
    assert torch.equal(after.weights["t"], flat.view(3, 4).T)


def test_a_cut_checkpoint_is_refused_by_name(store: ArtifactStore) -> None:
    ref = save(store, checkpoint())
    path = Path(ref.uri.removeprefix("file://"))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DamagedArtifact, match=ref.sha256):
        load(store, ref)


def test_every_difference_to_the_model_is_named(store: ArtifactStore) -> None:
    ref = save(store, checkpoint())
    like = {"body.weight": torch.zeros(4, 5), "head.weight": torch.zeros(2, 4)}
    with pytest.raises(CheckpointMismatch) as caught:
        load(store, ref, like=like)
    message = str(caught.value)
    assert ref.uri in message
    assert "head.weight is missing" in message
    assert "body.bias is not in the model" in message
    assert "body.weight is float32[4, 3], the model has float32[4, 5]" in message


def test_a_fitting_model_is_accepted(store: ArtifactStore) -> None:
    like = {"body.weight": torch.zeros(4, 3), "body.bias": torch.zeros(4)}
    assert load(store, save(store, checkpoint()), like=like).steps == 4_000


@pytest.mark.parametrize("data", [b"", b"short", struct.pack("<Q", 1 << 40) + b"{}", b"\x02" + b"\0" * 7 + b"{}"])
def test_strange_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(UnreadableCheckpoint):
        decode(data)


def test_plain_safetensors_and_newer_formats_are_refused() -> None:
    with pytest.raises(UnreadableCheckpoint, match="metadata"):
        decode(save_tensors({"w": torch.zeros(1)}))
    newer = save_tensors({"weights/w": torch.zeros(1)}, {"lanista": json.dumps({"format": 99})})
    with pytest.raises(UnreadableCheckpoint, match="format 99, this version reads 1 and 2"):
        decode(newer)


def test_what_is_stored_and_no_checkpoint_is_named_as_unreadable(store: ArtifactStore) -> None:
    ref = store.put(b"no checkpoint", kind="checkpoint")
    with pytest.raises(UnreadableCheckpoint) as caught:
        load(store, ref)
    assert is_called_unreadable(ref.sha256, f"damaged_checkpoint: {caught.value}")
    assert not is_called_unreadable(ref.sha256, str(MissingArtifact(ref.uri, ref.sha256)))
    assert not is_called_unreadable(ref.sha256, str(DamagedArtifact(ref.uri, ref.sha256, "0" * 64, 3, 3)))


@pytest.mark.parametrize("scalar", [float("nan"), object(), {1, 2}])
def test_what_json_cannot_hold_is_refused_on_save(scalar: object) -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode(replace(checkpoint(), learner={"bad": scalar}))


def test_weights_that_are_no_tensors_are_refused_on_save() -> None:
    with pytest.raises(ValueError, match="scale"):
        encode(replace(checkpoint(), weights={"scale": 1.0}))


def test_weights_of_users_are_checkpoints_or_plain_state_dicts() -> None:
    plain = torch.nn.Linear(2, 3).state_dict()
    found, raw_images = read_weights(save_tensors(dict(plain)))
    assert not raw_images and {name: tensor.shape for name, tensor in found.items()} == {
        "weight": (3, 2),
        "bias": (3,),
    }
    pickled = io.BytesIO()
    torch.save(plain, pickled)
    with pytest.raises(NotWeights, match=r"torch\.save.*safetensors\.torch\.save_file\(model\.state_dict\(\)"):
        read_weights(pickled.getvalue())
    with pytest.raises(NotWeights, match="not a safetensors file"):
        read_weights(b"no weights at all")
