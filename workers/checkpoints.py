"""Checkpoints: all the state that a generation needs to continue exactly where the last one ended.

One artifact is one safetensors file whose metadata holds the rest as JSON. Never pickle; no times and no ids,
so that equal training gives equal bytes and therefore the same hash. A large one is written tensor by tensor and read
into one piece of memory (`tensor_stream.py`).

    CheckpointError
    ├── UnreadableCheckpoint   not a checkpoint, or of a format this version does not know
    └── CheckpointMismatch     a checkpoint of something else: names, shapes or types differ
        └── NotWeights         a file of a user's that is neither a checkpoint nor a state_dict as safetensors

See docs/decisions/checkpoints-and-artifacts.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from league.types import CheckpointRef
from orchestrator.catalog import Component
from orchestrator.storage import parts
from orchestrator.storage.artifacts import ArtifactStore, unreadable
from orchestrator.storage.parts import Block
from orchestrator.storage.safetensors_header import (
    DEEPEST_METADATA,
    LARGEST_HEADER,
    InvalidHeader,
    read_header,
    read_json,
)
from workers.tensor_stream import can_stream, stream_tensors, tensors_of

KIND = "checkpoint"
FORMAT = 2
"""Format 1 had one network and one optimiser, in a section of its own, and saw images unscaled; it is still read."""
_METADATA = "lanista"
_SECTIONS = ("weights", "learner", "rng")
_TORCH_FILE = (b"PK\x03\x04", b"\x80\x02")
"""How files of torch.save begin: a zip archive, or pickle."""
HOW_TO_SAVE = (
    "Weights are a checkpoint (`lanista model download`) or the model's state_dict as safetensors: "
    "safetensors.torch.save_file(model.state_dict(), 'weights.safetensors')"
)
_SECTIONS_1 = ("weights", "optimizer", "normaliser", "rng")

State = Mapping[str, Any]
"""A flat mapping of names to tensors or JSON values (numbers, strings, lists, mappings with string keys)."""


class CheckpointError(Exception):
    """A checkpoint that cannot be used."""


class UnreadableCheckpoint(CheckpointError):
    """The bytes are intact but not a checkpoint of a known format."""


class CheckpointMismatch(CheckpointError):
    """The checkpoint does not fit what it should be loaded into; the message lists every difference."""


class NotWeights(CheckpointMismatch):
    """A user's file that holds no weights that are read; the message says how to make one."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A player's whole learning state. Weights are tensors; the other states may hold scalars too."""

    model: Component
    game: Component
    weights: Mapping[str, Tensor]
    """Of the network that acts."""
    learner: State = field(default_factory=dict)
    """Everything else that learns: see `workers.algorithms.learner.Learner.state`. Empty: it starts anew."""
    rng: State = field(default_factory=dict)
    steps: int = 0
    algorithm: Component | None = None
    """The algorithm, where the acting network alone does not say how the player acts."""
    buffers: tuple[Mapping[str, Any], ...] = ()
    """Where each training process's buffer is stored, if it is kept: see `workers.buffers.storing`."""
    raw_images: bool = False
    """Whether its networks see bytes of images as 0 to 255, as all of format 1 do, and not as 0 to 1."""


def save(store: ArtifactStore, checkpoint: Checkpoint, *, kind: str = KIND) -> CheckpointRef:
    """Store the checkpoint; equal checkpoints give equal references."""
    tensors = _tensors(checkpoint).values()
    if sum(tensor.nbytes for tensor in tensors) > parts.LARGE_BYTES and can_stream(tensors):
        return store.put_blocks(lambda: stream(checkpoint), kind=kind)
    return store.put(encode(checkpoint), kind=kind)


def load(store: ArtifactStore, ref: CheckpointRef, *, like: Mapping[str, Tensor] | None = None) -> Checkpoint:
    """Read a checkpoint back; its weights must have the names and shapes of `like`, a module's state_dict."""
    try:
        checkpoint = decode(store.read(ref))
        if like is not None:
            check_weights(checkpoint.weights, like)
    except UnreadableCheckpoint as error:
        raise UnreadableCheckpoint(unreadable(ref.uri, str(error))) from error
    except CheckpointMismatch as error:
        raise CheckpointMismatch(f"{ref.uri}: {error}") from error
    return checkpoint


def encode(checkpoint: Checkpoint) -> bytes:
    """The checkpoint as bytes, the same for equal checkpoints on every run."""
    # One metadata key only: safetensors writes several in an order that changes from run to run.
    packed = {name: _packed(tensor) for name, tensor in _tensors(checkpoint).items()}
    return bytes(save_tensors(packed, {_METADATA: _metadata_text(checkpoint)}))


def stream(checkpoint: Checkpoint) -> Iterator[Block]:
    """The bytes of `encode`, piece by piece: no tensor is copied, except from another device."""
    return stream_tensors(_tensors(checkpoint), {_METADATA: _metadata_text(checkpoint)})


def _tensors(checkpoint: Checkpoint) -> dict[str, Tensor]:
    return {
        f"{section}/{name}": value
        for section in _SECTIONS
        for name, value in getattr(checkpoint, section).items()
        if isinstance(value, Tensor)
    }


def _metadata_text(checkpoint: Checkpoint) -> str:
    scalars: dict[str, dict[str, Any]] = {}
    for section in _SECTIONS:
        state: State = getattr(checkpoint, section)
        scalars[section] = {name: v for name, v in state.items() if not isinstance(v, Tensor)}
    if scalars["weights"]:
        raise ValueError(f"weights must be tensors, these are not: {', '.join(sorted(scalars['weights']))}")
    metadata = {
        "format": FORMAT,
        "model": _described(checkpoint.model),
        "game": _described(checkpoint.game),
        "steps": checkpoint.steps,
        "scalars": scalars,
        "algorithm": None if checkpoint.algorithm is None else _described(checkpoint.algorithm),
        "buffers": [dict(buffer) for buffer in checkpoint.buffers],
    }
    if checkpoint.raw_images:
        metadata["raw_images"] = True
    return _exact_json(metadata)


def decode(data: bytes | bytearray) -> Checkpoint:
    """The checkpoint that these bytes encode; tensors are views of a bytearray, and copies of bytes."""
    metadata = _metadata(data)
    try:
        tensors = _views(data) if isinstance(data, bytearray) else load_tensors(data)
    except SafetensorError as error:
        raise UnreadableCheckpoint(f"not a safetensors file: {error}") from error
    sections = _SECTIONS_1 if metadata["format"] == 1 else _SECTIONS
    states: dict[str, dict[str, Any]] = {name: {} for name in sections}
    for key, tensor in tensors.items():
        section, _, name = key.partition("/")
        if section not in states or not name:
            raise UnreadableCheckpoint(f"tensor {key!r}: allowed are names below {', '.join(sections)}")
        states[section][name] = tensor
    try:
        for section in sections:
            states[section] |= metadata["scalars"].get(section, {})
        if metadata["format"] == 1:
            states.pop("normaliser")
            states["learner"] = {f"optimisers/policy/{name}": v for name, v in states.pop("optimizer").items()}
        return Checkpoint(
            model=Component(**metadata["model"]),
            game=Component(**metadata["game"]),
            steps=int(metadata["steps"]),
            algorithm=Component(**metadata["algorithm"]) if metadata.get("algorithm") else None,
            buffers=tuple(metadata.get("buffers", ())),
            raw_images=metadata["format"] == 1 or bool(metadata.get("raw_images")),
            **states,
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UnreadableCheckpoint(f"incomplete metadata: {error!r}") from error


def read_weights(data: bytes) -> tuple[dict[str, Tensor], bool]:
    """The weights in a user's file, a checkpoint or a plain state_dict as safetensors; and whether they are of a
    checkpoint that sees images unscaled. Raises NotWeights.
    """
    try:
        checkpoint = decode(data)
        return dict(checkpoint.weights), checkpoint.raw_images
    except UnreadableCheckpoint as error:
        problem = str(error)
    try:
        return dict(load_tensors(data)), False
    except SafetensorError:
        pass
    if data.startswith(_TORCH_FILE):
        problem = "a file of torch.save, which is pickle and is not read"
    raise NotWeights(f"{problem}. {HOW_TO_SAVE}")


def check_weights(found: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    """Raise CheckpointMismatch naming every missing, unexpected or differently shaped or typed tensor."""
    differences = [f"{name} is missing" for name in sorted(expected.keys() - found.keys())]
    differences += [f"{name} is not in the model" for name in sorted(found.keys() - expected.keys())]
    for name in sorted(expected.keys() & found.keys()):
        has, wants = _shape(found[name]), _shape(expected[name])
        if has != wants:
            differences.append(f"{name} is {has}, the model has {wants}")
    if differences:
        raise CheckpointMismatch("weights do not fit the model: " + "; ".join(differences))


def _views(data: bytearray) -> dict[str, Tensor]:
    """Tensors without a copy; types that only safetensors knows are copied."""
    try:
        return tensors_of(data)
    except InvalidHeader:
        return load_tensors(bytes(data))  # which says what is wrong, if anything is


def _metadata(data: bytes | bytearray) -> dict[str, Any]:
    """Our JSON from the safetensors header (8-byte length, then JSON), which the safetensors reader does not expose."""
    try:
        text = read_header(data)["__metadata__"][_METADATA].encode("utf-8", "replace")
        metadata = read_json(text, deepest=DEEPEST_METADATA, most_tokens=LARGEST_HEADER)
        version = metadata["format"]
    except InvalidHeader as error:
        raise UnreadableCheckpoint(str(error)) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise UnreadableCheckpoint(f"no checkpoint metadata in it: {error!r}") from error
    if version not in (1, FORMAT):
        raise UnreadableCheckpoint(f"checkpoint format {version!r}, this version reads 1 and {FORMAT}")
    return dict(metadata)


def _packed(tensor: Tensor) -> Tensor:
    """A contiguous copy: safetensors refuses tensors that share storage."""
    return tensor.detach().cpu().clone(memory_format=torch.contiguous_format)


def _described(component: Component) -> dict[str, Any]:
    return {"id": component.id, "options": dict(component.options)}


def _exact_json(value: Any) -> str:
    """Canonical JSON; raises ValueError for values that JSON does not have (NaN, objects)."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a checkpoint's scalars must be JSON values: {error}") from error


def _shape(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
