"""The service Parameters: weights are read, followed and published."""

from __future__ import annotations

import asyncio

import grpc
import numpy as np
import pytest
from safetensors.numpy import load

from tests.unit.rpc.serving import FakeRegistry, connected
from workers.checkpoints import decode
from workers.gateway.rpc.arrays import decode_batch, encode_batch
from workers.gateway.rpc.generated import parameters_pb2 as pb
from workers.gateway.rpc.generated.parameters_pb2_grpc import ParametersStub
from workers.gateway.rpc.parameters import ParametersService

Status = grpc.StatusCode


async def test_weights_as_a_file_and_as_arrays() -> None:
    registry = FakeRegistry()
    async with connected(ParametersService(registry)) as channel:
        stub = ParametersStub(channel)
        file = await stub.Get(pb.GetRequest(model="version-1"))
        arrays = await stub.Get(pb.GetRequest(model="champion", form=pb.FORM_ARRAYS))
        known = await stub.Get(pb.GetRequest(model="champion", have_sha256=arrays.version.sha256))
    assert file.safetensors == registry.files[1]
    assert (file.version.number, file.version.steps, file.version.alias) == (1, 100, "")
    assert arrays.version.alias == "default@champion"
    weights = decode(registry.files[0]).weights
    found = decode_batch(arrays.arrays)
    assert found.keys() == weights.keys()
    for name, tensor in weights.items():
        np.testing.assert_array_equal(found[name], tensor.numpy())
    assert known.WhichOneof("weights") is None


async def test_an_alias_is_watched() -> None:
    registry = FakeRegistry()
    async with connected(ParametersService(registry)) as channel:
        call = ParametersStub(channel).Watch(pb.WatchRequest(model="champion"))
        assert (await call.read()).id == "version-0"
        await registry.moves.put(1)
        assert (await call.read()).id == "version-1"
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call.read()


async def test_weights_are_published_as_arrays_or_as_a_file() -> None:
    registry, weights = FakeRegistry(1), {"body.0.weight": np.ones((2, 3), np.float32)}
    async with connected(ParametersService(registry)) as channel:
        stub = ParametersStub(channel)
        made = await stub.Publish(pb.PublishRequest(trial="p/t", name="guest", arrays=encode_batch(weights)))
        await stub.Publish(pb.PublishRequest(trial="p/t", name="file", like="main", safetensors=b"bytes"))
    assert (made.id, made.player, made.origin) == ("imported", "guest", "imported")
    first, second = registry.published
    assert (first["trial"], first["name"], first["like"]) == ("p/t", "guest", None)
    np.testing.assert_array_equal(load(first["data"])["body.0.weight"], weights["body.0.weight"])
    assert (second["like"], second["data"]) == ("main", b"bytes")


@pytest.mark.parametrize(
    ("asked", "code", "words"),
    [
        (pb.GetRequest(model="nobody"), Status.NOT_FOUND, "there is no version"),
        (pb.GetRequest(), Status.INVALID_ARGUMENT, "model must name"),
        (pb.GetRequest(model="champion", form=5), Status.INVALID_ARGUMENT, "form 5 is unknown"),  # type: ignore[arg-type]
        (pb.PublishRequest(trial="t", name="n"), Status.INVALID_ARGUMENT, "needs weights"),
        (pb.PublishRequest(name="n", safetensors=b"x"), Status.INVALID_ARGUMENT, "needs trial"),
        (pb.PublishRequest(trial="t", safetensors=b"x"), Status.INVALID_ARGUMENT, "needs name"),
        (pb.PublishRequest(trial="t", name="n", arrays=encode_batch({})), Status.INVALID_ARGUMENT, "holds no weights"),
    ],
)
async def test_bad_requests_are_refused(asked: pb.GetRequest, code: grpc.StatusCode, words: str) -> None:
    async with connected(ParametersService(FakeRegistry(1))) as channel:
        call = getattr(ParametersStub(channel), type(asked).__name__.removesuffix("Request"))
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await call(asked)
    assert error.value.code() is code
    assert words in (error.value.details() or "")
