"""The service Gamecore: games that call in over gRPC."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import grpc

from workers.gateway.contract import Refused, Reply, Step, StepKind
from workers.gateway.limits import SMALL_BODY
from workers.gateway.rpc.binding import Context, RpcService
from workers.gateway.rpc.generated import gamecore_pb2 as pb
from workers.gateway.rpc.statuses import code_number
from workers.gateway.session_names import LONGEST_NAME, parse_session, parse_ticket
from workers.gateway.transports.front import Front

MOST_STEPS = 1024
"""Steps in one message of a stream."""
LARGEST_MESSAGE = 4 << 20
"""Bytes of one message, unless bodies may be larger than half of it."""
LONGEST_WAIT = 60.0
"""Seconds that a question for the next game may wait."""

_KINDS = {
    pb.STEP_KIND_START: StepKind.START,
    pb.STEP_KIND_TICK: StepKind.TICK,
    pb.STEP_KIND_END: StepKind.END,
    pb.STEP_KIND_AUTO: StepKind.AUTO,
}


class GamecoreService(RpcService):
    """Takes steps by unary calls and by streams."""

    descriptor = pb.DESCRIPTOR.services_by_name["Gamecore"]

    def __init__(self, front: Front) -> None:
        self._front = front
        self.largest_message = max(LARGEST_MESSAGE, 2 * front.limits.body_bytes)

    async def Start(self, request: pb.StartRequest, context: Context) -> pb.StepReply:
        return await self._step(StepKind.START, request, request.ticket)

    async def Tick(self, request: pb.TickRequest, context: Context) -> pb.StepReply:
        return await self._step(StepKind.AUTO if request.auto else StepKind.TICK, request)

    async def End(self, request: pb.EndRequest, context: Context) -> pb.StepReply:
        return await self._step(StepKind.END, request)

    async def Next(self, request: pb.NextRequest, context: Context) -> pb.NextReply:
        if self._front.games is None:
            raise Refused(409, "this gateway hands out no games: start a session without a ticket")
        if not 0.0 <= request.seconds <= LONGEST_WAIT:
            raise Refused(400, f"seconds must be 0 to {LONGEST_WAIT:g}, not {request.seconds:g}")
        found: asyncio.Future[Mapping[str, Any] | None] = asyncio.get_running_loop().create_future()
        withdraw = self._front.games.next_game(
            request.seconds, lambda game: None if found.done() else found.set_result(game), request.game
        )
        try:
            game = await found
        except asyncio.CancelledError:  # the caller went away
            withdraw()
            raise
        return pb.NextReply() if game is None else pb.NextReply(ticket=str(game["ticket"]), game=json.dumps(dict(game)))

    async def Play(self, requests: AsyncIterator[pb.Steps], context: Context) -> None:
        await _Stream(self._front, context).run()

    async def _step(self, kind: StepKind, request: Any, ticket: str = "") -> pb.StepReply:
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        def reply(found: bytes | Refused) -> None:
            if answer.done():  # the caller gave up
                return
            if isinstance(found, Refused):
                answer.set_exception(found)
            else:
                answer.set_result(found)

        _take(self._front, kind, request, ticket, reply)
        return pb.StepReply(body=await answer)


def _take(front: Front, kind: StepKind, request: Any, ticket: str, reply: Reply) -> None:
    """Hand a step on, or refuse it."""
    front.metrics.requests["grpc"] += 1
    try:
        body = request.body
        if len(body) > front.limits.body_bytes:
            raise Refused(413, f"The body has {len(body)} bytes; at most {front.limits.body_bytes} are allowed.")
        session, agent = ("", "") if kind is StepKind.AUTO else parse_session(request.session.encode())
        if request.agent:
            session, agent = _with_agent(session, agent, request.agent)
        ticket = parse_ticket(ticket.encode())
        reply = _charged(front, len(body), reply)
    except Refused as refused:
        front.metrics.refused[refused.status] += 1
        reply(refused)
        return
    front.handler.handle(Step(session, kind, body, agent, ticket), reply)


def _charged(front: Front, size: int, reply: Reply) -> Reply:
    """The reply to a step whose body is counted against the process's budget until then; raises Refused."""
    if size <= SMALL_BODY:
        return reply
    if not front.budget.take(size):
        raise Refused(503, "This gateway holds as many large bodies as it may: try again.", 1.0)

    def answer(found: bytes | Refused) -> None:
        front.budget.give_back(size)
        reply(found)

    return answer


def _with_agent(session: str, named: str, agent: str) -> tuple[str, str]:
    """The agent of a field of its own."""
    if named and named != agent:
        raise Refused(400, f"The session names the agent {named!r}, and the field agent {agent!r}.")
    if len(agent) > LONGEST_NAME or not agent.isprintable():
        raise Refused(400, f"The agent's name must have at most {LONGEST_NAME} characters that can be printed.")
    return session, agent


class _Stream:
    """One stream of steps: one task reads, one writes what is ready."""

    def __init__(self, front: Front, context: Context) -> None:
        self._front, self._context = front, context
        self._ready: list[pb.StreamedReply] = []
        self._under_way = 0
        """Steps whose replies are not sent yet."""
        self._ended = False
        self._changed = asyncio.Event()
        """A reply is ready, or no more steps will come."""
        self._room = asyncio.Event()

    async def run(self) -> None:
        reader = asyncio.ensure_future(self._read())
        try:
            await self._write()
            await reader
        finally:
            reader.cancel()

    async def _read(self) -> None:
        try:
            while (message := await self._context.read()) is not grpc.aio.EOF:
                steps = message.steps
                if len(steps) > MOST_STEPS:
                    raise Refused(400, f"a message has {len(steps)} steps; at most {MOST_STEPS} are allowed")
                self._under_way += len(steps)
                for step in steps:
                    self._take(step)
                while self._under_way >= self._front.limits.under_way:
                    self._room.clear()
                    await self._room.wait()
        finally:
            self._ended = True
            self._changed.set()

    async def _write(self) -> None:
        while True:
            if self._ready:
                replies, self._ready = self._ready, []
                await self._context.write(pb.StepReplies(replies=replies))
                self._under_way -= len(replies)
                self._room.set()
            elif self._ended and not self._under_way:
                return
            else:
                self._changed.clear()
                await self._changed.wait()

    def _take(self, step: pb.Step) -> None:
        kind, reply = _KINDS.get(step.kind), self._reply(step.id)
        if kind is None:
            reply(Refused(400, f"kind {step.kind} is unknown; allowed: {', '.join(map(pb.StepKind.Name, _KINDS))}"))
            return
        _take(self._front, kind, step, step.ticket, reply)

    def _reply(self, id: int) -> Reply:
        def reply(found: bytes | Refused) -> None:
            if isinstance(found, Refused):
                refusal = pb.Refusal(code=code_number(found), text=found.text, retry_after=found.retry_after or 0.0)
                self._ready.append(pb.StreamedReply(id=id, refusal=refusal))
            else:
                self._ready.append(pb.StreamedReply(id=id, body=found))
            self._changed.set()

        return reply
