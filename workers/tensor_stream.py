"""Safetensors files that are too large to have twice in memory: written tensor by tensor, read without a copy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from math import prod

import torch
from torch import Tensor

from orchestrator.storage.parts import Block
from orchestrator.storage.safetensors_header import InvalidHeader, read_header

# in the order in which safetensors writes them, so that both write the same bytes
_TYPES = {
    "U64": torch.uint64,
    "I64": torch.int64,
    "F64": torch.float64,
    "F32": torch.float32,
    "U32": torch.uint32,
    "I32": torch.int32,
    "BF16": torch.bfloat16,
    "F16": torch.float16,
    "U16": torch.uint16,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_PLACES = {dtype: place for place, dtype in enumerate(_TYPES.values())}
_ALIGNMENT = 8


def can_stream(tensors: Iterable[Tensor]) -> bool:
    """Whether `stream_tensors` knows their types; complex and 8-bit floating-point numbers are left to safetensors."""
    return all(tensor.dtype in _NAMES for tensor in tensors)


def stream_tensors(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> Iterator[Block]:
    """The bytes that safetensors would write, in pieces: the header, then each tensor."""
    names = sorted(tensors, key=lambda name: (_PLACES[tensors[name].dtype], name.encode()))
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    end = 0
    for name in names:
        start, end = end, end + tensors[name].nbytes
        header[name] = {
            "dtype": _NAMES[tensors[name].dtype],
            "shape": list(tensors[name].shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
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
            found[name] = _view(data, begin + start, prod(shape), dtype).reshape(shape)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise InvalidHeader(f"tensor {name!r}: {error}") from error
    return found


def _view(data: bytearray, start: int, count: int, dtype: torch.dtype) -> Tensor:
    if not count:
        return torch.empty(0, dtype=dtype)
    if start % dtype.itemsize:  # written by others
        return torch.frombuffer(data[start : start + count * dtype.itemsize], dtype=dtype)
    return torch.frombuffer(data, dtype=dtype, count=count, offset=start)
