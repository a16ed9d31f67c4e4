"""Binds a service's methods to a gRPC server: checks callers and messages, and turns refusals into statuses."""

from __future__ import annotations

import inspect
import logging
from abc import ABC
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from workers.gateway.contract import Refused
from workers.gateway.rpc.statuses import code_of, trailing_metadata

_log = logging.getLogger(__name__)

Context = grpc.aio.ServicerContext[Any, Any]
Check = Callable[[Context], None]
"""Raises Refused for a caller that may not call."""


class RpcService(ABC):
    """A service of a .proto file: for each of its methods, one coroutine or async generator of the same name.

    Methods take what a servicer of grpc.aio takes: the request, or an iterator of requests, and the context. They may
    raise `Refused`.
    """

    descriptor: ClassVar[ServiceDescriptor]
    """`my_pb2.DESCRIPTOR.services_by_name["Mine"]`."""
    largest_message: int | None = None
    """Bytes of a request, where they are fewer than the server's limit."""

    def close(self) -> None:  # noqa: B027
        """Called once after the last call."""


@dataclass(frozen=True, slots=True)
class _Malformed:
    """Stands for a request that could not be read, until there is a context to say so."""

    refused: Refused


def handlers_of(service: RpcService, check: Check) -> dict[str, grpc.RpcMethodHandler[Any, Any]]:
    """A handler for each method of the service; raises TypeError for one that it lacks."""
    return {method.name: _handler(service, method, check) for method in service.descriptor.methods}


def _handler(service: RpcService, method: MethodDescriptor, check: Check) -> grpc.RpcMethodHandler[Any, Any]:
    run = getattr(service, method.name, None)
    if run is None:
        raise TypeError(f"{type(service).__name__} lacks {method.name}, which {method.full_name} declares")
    wrapped = _generating(run, check) if inspect.isasyncgenfunction(run) else _answering(run, check)
    kinds: dict[tuple[bool, bool], Callable[..., grpc.RpcMethodHandler[Any, Any]]] = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }
    make = kinds[bool(method.client_streaming), bool(method.server_streaming)]
    return make(
        wrapped,
        request_deserializer=_reader(method, service.largest_message, streaming=bool(method.client_streaming)),
        response_serializer=GetMessageClass(method.output_type).SerializeToString,
    )


def _reader(method: MethodDescriptor, most: int | None, *, streaming: bool) -> Callable[[bytes], Any]:
    parse: Callable[[bytes], Message] = GetMessageClass(method.input_type).FromString
    name = method.input_type.name

    def read(data: bytes) -> Message | _Malformed:
        try:
            if most is None or len(data) <= most:
                return parse(data)
            refused = Refused(413, f"the request has {len(data)} bytes; a {name} message has at most {most}")
        except DecodeError:
            refused = Refused(400, f"the {len(data)} bytes of the request are no {name} message")
        if streaming:  # the method iterates over the messages, and its wrapper catches the exception
            raise refused
        return _Malformed(refused)

    return read


def _answering(run: Any, check: Check) -> Callable[..., Any]:
    async def answer(request: Any, context: Context) -> Any:
        try:
            _enter(request, context, check)
            return await run(request, context)
        except Exception as error:
            await _abort(error, context)

    return answer


def _generating(run: Any, check: Check) -> Callable[..., Any]:
    async def generate(request: Any, context: Context) -> AsyncIterator[Any]:
        try:
            _enter(request, context, check)
            async for reply in run(request, context):
                yield reply
        except Exception as error:
            await _abort(error, context)

    return generate


def _enter(request: Any, context: Context, check: Check) -> None:
    check(context)
    if isinstance(request, _Malformed):
        raise request.refused


async def _abort(error: Exception, context: Context) -> None:
    if isinstance(error, grpc.aio.AbortError):
        raise error
    if not isinstance(error, Refused):
        _log.error("an RPC failed", exc_info=error)
        error = Refused(500, "the server failed on this call; its log says why")
    await context.abort(code_of(error), error.text, trailing_metadata(error))
