"""Safetensors files larger than one wants to have twice in memory: written piece by piece, read without copying."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import prod

import torch
from torch import Tensor

from orchestrator.storage.safetensors_header import InvalidHeader, read_header

_NAMES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
_TYPES = {name: dtype for dtype, name in _NAMES.items()}
_ALIGNMENT = 8


def stream_tensors(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> Iterator[bytes | memoryview]:
    """The bytes of a safetensors file: the header, then each tensor; larger types first, so that all are aligned."""
    names = sorted(tensors, key=lambda name: (-tensors[name].element_size(), name))
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    end = 0
    for name in names:
        start, end = end, end + tensors[name].nbytes
        header[name] = {
            "dtype": _NAMES[tensors[name].dtype],
            "shape": list(tensors[name].shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    yield len(text).to_bytes(8, "little") + text
    for name in names:
        if tensors[name].nbytes:
            # one tensor at a time comes from its device
            flat = tensors[name].detach().cpu().contiguous().reshape(-1)
            yield flat.view(torch.uint8).numpy().data


def tensors_of(data: bytearray) -> dict[str, Tensor]:
    """The tensors of a safetensors file as views of its bytes; raises InvalidHeader."""
    header = read_header(data)
    begin = 8 + int.from_bytes(data[:8], "little")
    found: dict[str, Tensor] = {}
    for name, each in header.items():
        if name == "__metadata__":
            continue
        try:
            dtype, shape, (start, end) = _TYPES[each["dtype"]], each["shape"], each["data_offsets"]
            if not 0 <= start <= end <= len(data) - begin or end - start != prod(shape) * dtype.itemsize:
                raise ValueError(f"its data are not at {start} to {end}")
            count = prod(shape)
            flat = torch.frombuffer(data, dtype=dtype, count=count, offset=begin + start) if count else torch.empty(0)
            found[name] = flat.to(dtype).reshape(shape)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidHeader(f"tensor {name!r}: {error}") from error
    return found
