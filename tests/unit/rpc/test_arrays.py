"""Arrays and nested batches survive the way; messages that are not whole are refused with words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from workers.gateway.contract import Refused
from workers.gateway.rpc.arrays import decode_array, decode_batch, encode_array, encode_batch, nested
from workers.gateway.rpc.generated import arrays_pb2 as pb

TYPES = [np.dtype(name.removeprefix("DATA_TYPE_").lower()) for name, number in pb.DataType.items() if number]


@given(st.sampled_from(TYPES).flatmap(lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0))))
def test_an_array_survives(array: np.ndarray[Any, Any]) -> None:
    found = decode_array(pb.Array.FromString(encode_array(array).SerializeToString()))
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("array", [np.arange(6).reshape(2, 3).T, np.arange(6)[::-2], np.arange(3, dtype=">i4")])
def test_whatever_its_memory_looks_like(array: np.ndarray[Any, Any]) -> None:
    np.testing.assert_array_equal(decode_array(encode_array(array)), array)


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([object()]), np.array([1j]), np.array([1], "M8[s]")])
def test_what_is_no_number_is_not_sent(array: np.ndarray[Any, Any]) -> None:
    with pytest.raises(ValueError, match="cannot be sent; allowed: bool, int8"):
        encode_array(array)


def test_a_batch_survives_nested() -> None:
    columns = {"obs/board": np.zeros((2, 9), np.uint8), "obs/units/hp": np.ones(2), "reward": np.ones(2, np.float32)}
    message = pb.Batch.FromString(encode_batch(columns).SerializeToString())
    assert set(message.values) == {"obs", "reward"}
    found = decode_batch(message)
    assert found.keys() == columns.keys()
    for name, array in columns.items():
        np.testing.assert_array_equal(found[name], array)
    assert encode_batch(nested(columns)) == message
    assert decode_batch(encode_batch({"empty": {}})) == {}


def test_a_name_cannot_be_an_array_and_a_batch() -> None:
    with pytest.raises(ValueError, match="obs is both an array and a batch"):
        encode_batch({"obs": np.ones(1), "obs/board": np.ones(1)})


def deep(levels: int) -> pb.Batch:
    batch = pb.Batch()
    for _ in range(levels):
        batch = pb.Batch(values={"in": pb.Value(batch=batch)})
    return batch


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (pb.Array(), "dtype 0 is unknown; allowed: DATA_TYPE_BOOL"),
        (pb.Array(dtype=99), "dtype 99 is unknown"),  # type: ignore[arg-type]
        (pb.Array(dtype=pb.DATA_TYPE_INT8, shape=[2, -1], data=b"12"), r"the shape \[2, -1\] has a negative length"),
        (pb.Array(dtype=pb.DATA_TYPE_INT32, shape=[3], data=b"12"), r"int32 of shape \[3\] takes 12 bytes, .* has 2"),
        (pb.Array(dtype=pb.DATA_TYPE_INT32, shape=[1 << 62, 4], data=b""), "takes 73786976294838206464 bytes"),
        (pb.Array(dtype=pb.DATA_TYPE_INT8, shape=[1 << 62, 0], data=b""), "is too large"),
        (pb.Array(dtype=pb.DATA_TYPE_INT8, shape=[1] * 33, data=b"1"), "33 dimensions; at most 32"),
        (pb.Array(dtype=pb.DATA_TYPE_BOOL, shape=[1], data=b"\2"), "must be 0 or 1, not 2"),
    ],
)
def test_a_bad_array_is_refused(array: pb.Array, words: str) -> None:
    with pytest.raises(Refused) as refused:
        decode_batch(pb.Batch(values={"obs": pb.Value(array=array)}), "rows")
    assert refused.value.status == 400
    assert refused.match(words) and refused.match("rows, obs: ")


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (pb.Batch(values={"": pb.Value()}), "'' is no name"),
        (pb.Batch(values={"a/b": pb.Value()}), "'a/b' is no name; allowed: 1 to 200 characters without /"),
        (pb.Batch(values={"x" * 201: pb.Value()}), "is no name"),
        (pb.Batch(values={"obs": pb.Value()}), "obs is neither an array nor a batch"),
        (deep(17), "more than 16 levels"),
    ],
)
def test_a_bad_batch_is_refused(batch: pb.Batch, words: str) -> None:
    with pytest.raises(Refused, match=words):
        decode_batch(batch)
