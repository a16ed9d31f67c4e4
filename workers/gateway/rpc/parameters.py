"""The service Parameters: weights of versions, read, followed and published."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from workers.gateway.contract import Refused
from workers.gateway.rpc.arrays import decode_batch, encode_batch
from workers.gateway.rpc.binding import Context, RpcService
from workers.gateway.rpc.generated import arrays_pb2
from workers.gateway.rpc.generated import parameters_pb2 as pb
from workers.gateway.rpc.policy import named
from workers.gateway.rpc.registry import ModelRegistry, VersionRef


class ParametersService(RpcService):
    """Passes weights between callers and the league's records."""

    descriptor = pb.DESCRIPTOR.services_by_name["Parameters"]

    def __init__(self, registry: ModelRegistry) -> None:
        self._registry = registry

    async def Get(self, request: pb.GetRequest, context: Context) -> pb.GetReply:
        if request.form not in pb.Form.values():
            raise Refused(400, f"form {request.form} is unknown; allowed: {', '.join(pb.Form.keys())}")
        version = await self._registry.find(named(request.model))
        reply = pb.GetReply(version=_info(version))
        if request.have_sha256 == version.sha256:
            return reply
        data = await self._registry.checkpoint(version)
        if request.form == pb.FORM_SAFETENSORS:
            reply.safetensors = data
        else:
            reply.arrays.CopyFrom(await asyncio.to_thread(_arrays, data))
        return reply

    async def Watch(self, request: pb.WatchRequest, context: Context) -> AsyncIterator[pb.VersionInfo]:
        async for version in self._registry.follow(named(request.model)):
            yield _info(version)

    async def Publish(self, request: pb.PublishRequest, context: Context) -> pb.VersionInfo:
        match request.WhichOneof("weights"):
            case "safetensors":
                data = request.safetensors
            case "arrays":
                data = await asyncio.to_thread(_file, request.arrays)
            case _:
                raise Refused(400, "a publication needs weights: safetensors or arrays")
        for field in ("trial", "name"):
            if not getattr(request, field):
                raise Refused(400, f"a publication needs {field}")
        made = await self._registry.publish(
            trial=request.trial, name=request.name, like=request.like or None, data=data
        )
        return _info(made)


def _info(version: VersionRef) -> pb.VersionInfo:
    return pb.VersionInfo(
        id=version.id,
        player=version.player,
        number=version.number,
        steps=version.steps,
        sha256=version.sha256,
        origin=version.origin,
        alias=version.alias,
    )


def _arrays(data: bytes) -> arrays_pb2.Batch:
    import torch  # here, so that a gateway without policies runs without torch

    from workers.checkpoints import CheckpointError, decode

    try:
        weights = decode(data).weights
    except CheckpointError as error:
        raise Refused(409, f"the version's checkpoint cannot be read: {error}") from error
    odd = sorted({str(tensor.dtype) for tensor in weights.values() if tensor.dtype == torch.bfloat16})
    if odd:
        raise Refused(400, f"the version has weights of {', '.join(odd)}, which arrays lack: ask for FORM_SAFETENSORS")
    return encode_batch({name: tensor.numpy() for name, tensor in weights.items()})


def _file(batch: arrays_pb2.Batch) -> bytes:
    from safetensors.numpy import save

    weights = decode_batch(batch, "weights")
    if not weights:
        raise Refused(400, "arrays holds no weights")
    return save(weights)
