"""Arrays and nested batches as protobuf messages, without pickle. Malformed messages are refused, with the reason."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workers.gateway.contract import Refused
from workers.gateway.rpc.generated import arrays_pb2

Nested = Mapping[str, Any]
"""Names to arrays, or to further mappings of this kind."""

MOST_DIMENSIONS = 32
MOST_LEVELS = 16
LONGEST_NAME = 200

_TYPES: dict[int, np.dtype[Any]] = {
    number: np.dtype(name.removeprefix("DATA_TYPE_").lower()).newbyteorder("<")
    for name, number in arrays_pb2.DataType.items()
    if number
}
_NUMBERS: dict[np.dtype[Any], Any] = {dtype: number for number, dtype in _TYPES.items()}
_NAMES = ", ".join(name for name, number in arrays_pb2.DataType.items() if number)


def data_type(dtype: np.dtype[Any]) -> arrays_pb2.DataType:
    """The number that stands for a type of numpy; raises ValueError where there is none."""
    number: arrays_pb2.DataType | None = _NUMBERS.get(dtype.newbyteorder("<"))
    if number is None:
        raise ValueError(f"arrays of {dtype} cannot be sent; allowed: {', '.join(str(each) for each in _NUMBERS)}")
    return number


def encode_array(array: ArrayLike) -> arrays_pb2.Array:
    """An array, or a number, as a message."""
    found = np.asarray(array)
    number = data_type(found.dtype)
    return arrays_pb2.Array(
        dtype=number, shape=found.shape, data=found.astype(_TYPES[number], "C", copy=False).tobytes()
    )


def decode_array(message: arrays_pb2.Array, name: str = "array") -> NDArray[Any]:
    """The array of a message, with memory of its own. Raises Refused for one that is not whole."""
    dtype = _TYPES.get(message.dtype)
    if dtype is None:
        raise Refused(400, f"{name}: dtype {message.dtype} is unknown; allowed: {_NAMES}")
    shape = tuple(message.shape)
    if len(shape) > MOST_DIMENSIONS:
        raise Refused(400, f"{name}: {len(shape)} dimensions; at most {MOST_DIMENSIONS} are allowed")
    if any(length < 0 for length in shape):
        raise Refused(400, f"{name}: the shape {list(shape)} has a negative length")
    wanted = math.prod(shape) * dtype.itemsize
    if wanted != len(message.data):
        raise Refused(
            400, f"{name}: {dtype.name} of shape {list(shape)} takes {wanted} bytes, and data has {len(message.data)}"
        )
    if max(shape, default=0) > np.iinfo(np.int64).max >> 8:
        raise Refused(400, f"{name}: the shape {list(shape)} is too large")
    array = np.frombuffer(bytearray(message.data), dtype).reshape(shape)
    if dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
        raise Refused(400, f"{name}: a byte of DATA_TYPE_BOOL must be 0 or 1, not {array.view(np.uint8).max()}")
    return array


def encode_batch(values: Nested) -> arrays_pb2.Batch:
    """A nested mapping of arrays as a message; a name such as "obs/board" means board in obs."""
    batch = arrays_pb2.Batch()
    for name, value in values.items():
        _put(batch, name, value)
    return batch


def decode_batch(message: arrays_pb2.Batch, name: str = "batch") -> dict[str, NDArray[Any]]:
    """The arrays of a batch by their paths, as in "obs/board"; raises Refused."""
    return dict(_arrays(message, name, "", MOST_LEVELS))


def nested(columns: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The inverse of the paths that `decode_batch` gives: {"obs/board": array} as {"obs": {"board": array}}."""
    found: dict[str, Any] = {}
    for path, array in columns.items():
        *parents, name = path.split("/")
        place = found
        for parent in parents:
            place = place.setdefault(parent, {})
        place[name] = array
    return found


def _put(batch: arrays_pb2.Batch, path: str, value: Any) -> None:
    name, _, rest = path.partition("/")
    place = batch.values[name]
    taken = place.WhichOneof("kind")
    if rest or isinstance(value, Mapping):
        if taken == "array":
            raise ValueError(f"{name} is both an array and a batch")
        place.batch.SetInParent()
        for below, each in {rest: value}.items() if rest else value.items():
            _put(place.batch, below, each)
        return
    if taken is not None:
        raise ValueError(f"{name} is there twice")
    place.array.CopyFrom(encode_array(value))


def _arrays(message: arrays_pb2.Batch, name: str, path: str, levels: int) -> Iterator[tuple[str, NDArray[Any]]]:
    if not levels:
        raise Refused(400, f"{name}: batches are nested more than {MOST_LEVELS} levels deep")
    for key, value in message.values.items():
        if not key or "/" in key or len(key) > LONGEST_NAME:
            raise Refused(
                400, f"{name}: {key[:LONGEST_NAME]!r} is no name; allowed: 1 to {LONGEST_NAME} characters without /"
            )
        where = f"{path}/{key}" if path else key
        match value.WhichOneof("kind"):
            case "array":
                yield where, decode_array(value.array, f"{name}, {where}")
            case "batch":
                yield from _arrays(value.batch, name, where, levels - 1)
            case _:
                raise Refused(400, f"{name}: {where} is neither an array nor a batch")
