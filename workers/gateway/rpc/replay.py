"""The service Replay: replay buffers for any process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from workers.gateway.contract import Refused
from workers.gateway.rpc.arrays import LONGEST_NAME, decode_array, decode_batch, encode_array, encode_batch
from workers.gateway.rpc.binding import Context, RpcService
from workers.gateway.rpc.generated import replay_pb2 as pb

if TYPE_CHECKING:
    from workers.gateway.rpc.buffers import BufferOptions, HeldBuffer, ReplayBuffers

Result = TypeVar("Result")


class ReplayService(RpcService):
    """All buffers belong to one thread beside the event loop: no locks, and a large push holds up no game.

    They are made with the first `Open`: buffers import torch, which takes seconds, and which a gateway that nobody asks
    for a buffer need not have.
    """

    descriptor = pb.DESCRIPTOR.services_by_name["Replay"]

    def __init__(self, memory: int, largest_reply: int) -> None:
        """`memory`: bytes for all buffers together."""
        self._memory, self._largest_reply = memory, largest_reply
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rpc-replay")

    async def Open(self, request: pb.OpenRequest, context: Context) -> pb.BufferInfo:
        name = request.buffer
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise Refused(400, f"buffer must be a name of 1 to {LONGEST_NAME} characters")
        return await self._run(lambda: _info(self._buffers.open(name, _options(request))))

    async def Push(self, request: pb.PushRequest, context: Context) -> pb.BufferInfo:
        return await self._run(
            lambda: _info(self._opened(request.buffer).push(request.buffer, decode_batch(request.columns, "columns")))
        )

    async def Sample(self, request: pb.SampleRequest, context: Context) -> pb.SampleReply:
        return await self._run(lambda: self._sampled(request))

    async def Feedback(self, request: pb.FeedbackRequest, context: Context) -> pb.BufferInfo:
        def work() -> pb.BufferInfo:
            ids, errors = decode_array(request.ids, "ids"), decode_array(request.errors, "errors")
            return _info(self._opened(request.buffer).feedback(request.buffer, ids, errors))

        return await self._run(work)

    async def Describe(self, request: pb.DescribeBufferRequest, context: Context) -> pb.BufferInfo:
        return await self._run(lambda: _info(self._opened(request.buffer).get(request.buffer)))

    async def Close(self, request: pb.CloseRequest, context: Context) -> pb.BufferInfo:
        return await self._run(lambda: _info(self._opened(request.buffer).close(request.buffer)))

    @cached_property
    def _buffers(self) -> ReplayBuffers:
        from workers.gateway.rpc.buffers import ReplayBuffers

        return ReplayBuffers(self._memory, self._largest_reply)

    def _opened(self, name: str) -> ReplayBuffers:
        """The buffers, of which one was opened; raises Refused at once where none ever was."""
        if "_buffers" not in vars(self):
            raise Refused(404, f"there is no buffer {name[:200]!r}; there are: none. Open makes one.")
        return self._buffers

    def close(self) -> None:
        """Give up the thread; calls under way end by themselves."""
        self._thread.shutdown(wait=False)

    def _sampled(self, request: pb.SampleRequest) -> pb.SampleReply:
        drawn = self._opened(request.buffer).draw(request.buffer, request.rows, request.seed)
        return pb.SampleReply(
            columns=encode_batch(drawn.columns), ids=encode_array(drawn.ids), weights=encode_array(drawn.weights)
        )

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _options(request: pb.OpenRequest) -> BufferOptions:
    from workers.gateway.rpc.buffers import BufferOptions

    priorities = request.priorities if request.HasField("priorities") else None
    sequences = request.sequences if request.HasField("sequences") else None
    return BufferOptions(
        capacity=request.capacity,
        warm_up=request.warm_up or 1,
        gamma=request.gamma if request.HasField("gamma") else 1.0,
        n_step=request.n_step or 1,
        compressed=request.compressed,
        priorities=None if priorities is None else (priorities.alpha, priorities.beta),
        sequences=None if sequences is None else (sequences.length, sequences.burn_in),
    )


def _info(held: HeldBuffer) -> pb.BufferInfo:
    return pb.BufferInfo(
        buffer=held.name,
        capacity=held.options.capacity,
        rows=len(held.buffer),
        added=held.added,
        bytes=held.buffer.nbytes,
    )
