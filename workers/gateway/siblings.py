"""Several processes behind one port: a session stays in the process that started it, and its steps find it there.

The kernel spreads connections over the processes. A game that keeps its connection therefore always reaches the process
that has its session. For other games each session's name has a registrar, the process at crc32(name) modulo their
number: it is asked who has the name, by a start before it begins and by the first step that arrives elsewhere. Such
steps are sent on over a unix socket. See docs/decisions/gateway.md.
"""

from __future__ import annotations

import asyncio
import json
import os
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from workers.gateway.contract import GameAnswer, GameSource, Refused, Reply, Step, StepHandler, StepKind
from workers.gateway.metrics import GatewayMetrics, prometheus_text
from workers.gateway.sessions import SessionTable
from workers.gateway.sibling_links import (
    Message,
    MessageStream,
    SiblingLink,
    pack_answer,
    pack_step,
    unpack_answer,
    unpack_step,
)

NOBODY = 255
MOST_ELSEWHERE = 65_536
METRICS_SECONDS = 1.0
LINKED_SECONDS = 5.0
"""How long a process waits for the others before it takes games."""
LOOK_SECONDS = 0.02
TICKET_MARK = "~"


class Siblings:
    """Takes the steps of all transports of one process; those of others' sessions are sent on to them."""

    def __init__(self, table: SessionTable, metrics: GatewayMetrics, index: int, count: int, folder: Path) -> None:
        self._table, self._metrics = table, metrics
        self._index, self._count, self._folder = index, count, folder
        self._names: dict[str, int] = {}
        """Of the names that this process is the registrar of: who has them."""
        self._elsewhere: dict[str, int] = {}
        """Sessions that others have, as far as they were asked for."""
        self._links: dict[int, SiblingLink] = {}
        self._callers: set[_Caller] = set()
        self._server: asyncio.Server | None = None
        table.watch = self

    async def start(self) -> None:
        """Listen for the others, and connect to them as they appear."""
        path = self._path(self._index)
        path.unlink(missing_ok=True)
        self._server = await asyncio.get_running_loop().create_unix_server(self._accept, str(path))
        os.chmod(path, 0o600)
        for other in range(self._count):
            if other != self._index:
                link = self._links[other] = SiblingLink(
                    self._path(other),
                    self._index,
                    connected=partial(self._introduce, other),
                    lost=partial(self._forget_process, other),
                )
                link.start()

    async def linked(self) -> None:
        """Wait until this process has reached all others, or some seconds: one that is down must not hold it up."""
        for _ in range(round(LINKED_SECONDS / LOOK_SECONDS)):
            if all(link.is_up for link in self._links.values()):
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def stop(self) -> None:
        for link in self._links.values():
            await link.close()
        if self._server is not None:
            self._server.close()
        for caller in list(self._callers):
            caller.stream.close()

    def handle(self, step: Step, reply: Reply) -> None:
        if step.ticket and step.kind is StepKind.START:
            owner, step.ticket = split_ticket(step.ticket)
            if owner not in (None, self._index) and owner in self._links:
                step.ticket = join_ticket(owner, step.ticket)
                return self._forward(owner, step, reply)
        return self._handle(step, reply)

    def _handle(self, step: Step, reply: Reply) -> None:
        if step.session in self._table or step.kind is StepKind.AUTO:
            self._table.handle(step, reply)
            return
        owner = self._elsewhere.get(step.session)
        if owner is not None:
            self._forward(owner, step, reply)
        elif step.kind is StepKind.START:
            self._ask(Message.CLAIM, step, reply)
        else:
            self._ask(Message.WHERE, step, reply)

    # Who has a session

    def opened(self, name: str) -> None:
        """The table's news; the claim came before."""

    def closed(self, name: str) -> None:
        registrar = self._registrar(name)
        if registrar != self._index:
            self._links[registrar].tell(Message.RELEASE, name.encode())
        elif self._names.get(name) == self._index:
            del self._names[name]

    def _registrar(self, name: str) -> int:
        return zlib.crc32(name.encode()) % self._count

    def _ask(self, question: Message, step: Step, reply: Reply) -> None:
        registrar = self._registrar(step.session)
        if registrar == self._index:
            return self._at_owner(self._answer_question(question, step.session, self._index), step, reply)

        def answer(payload: bytes | None) -> None:
            if payload is not None:
                self._at_owner(payload[0], step, reply)
            elif question is Message.CLAIM:
                self._at_owner(self._index, step, reply)  # the registrar is restarting, and hears of the session then
            else:
                reply(Refused(503, f"Session {step.session!r} cannot be found now, one process restarts.", 1.0))

        return self._links[registrar].ask(question, step.session.encode(), answer)

    def _answer_question(self, question: Message, name: str, asker: int) -> int:
        """The registrar's part: who has the name; a claim of a free one makes it the asker's."""
        if question is Message.CLAIM:
            return self._names.setdefault(name, asker)
        return self._names.get(name, NOBODY)

    def _at_owner(self, owner: int, step: Step, reply: Reply) -> None:
        if owner not in (self._index, NOBODY):
            self._remember(step.session, owner)
            return self._forward(owner, step, reply)
        self._table.handle(step, reply)
        if step.kind is StepKind.START and step.session not in self._table:
            self.closed(step.session)  # the start was refused: free the name
        return None

    def _remember(self, name: str, owner: int) -> None:
        if len(self._elsewhere) >= MOST_ELSEWHERE:
            self._elsewhere.clear()
        self._elsewhere[name] = owner

    # Steps that are sent on

    def _forward(self, owner: int, step: Step, reply: Reply) -> None:
        self._metrics.forwarded += 1

        def answer(payload: bytes | None) -> None:
            if payload is None:
                self._elsewhere.pop(step.session, None)
                gone = f"Session {step.session!r} was aborted: the process that had it ended, or is overloaded."
                return reply(Refused(503 if self._links[owner].is_up else 410, gone, 1.0))
            result = unpack_answer(payload)
            if step.kind is StepKind.END or (isinstance(result, Refused) and result.status in (404, 410)):
                self._elsewhere.pop(step.session, None)
            return reply(result)

        self._links[owner].ask(Message.STEP, pack_step(step), answer)

    # What the others say

    def _accept(self) -> MessageStream:
        caller = _Caller(self)
        caller.stream = MessageStream(caller.take, partial(self._caller_lost, caller))
        self._callers.add(caller)
        return caller.stream

    def take(self, stream: MessageStream, asker: int, kind: Message, tag: int, payload: bytes) -> None:
        """A message of another process."""
        if kind is Message.STEP:
            step = unpack_step(payload)
            by_ticket = bool(step.ticket) and step.kind is StepKind.START  # the registrar was not asked yet
            handler: StepHandler = self if by_ticket else self._table
            handler.handle(step, lambda answer: _send(stream, tag, pack_answer(answer)))
        elif kind in (Message.CLAIM, Message.WHERE):
            _send(stream, tag, bytes([self._answer_question(kind, payload.decode(), asker)]))
        elif kind is Message.HAVE:
            self._names.setdefault(payload.decode(), asker)
        elif kind is Message.RELEASE:
            if self._names.get(payload.decode()) == asker:
                del self._names[payload.decode()]
        elif kind is Message.METRICS:
            _send(stream, tag, json.dumps(self._metrics.snapshot()).encode())

    def _caller_lost(self, caller: _Caller) -> None:
        """A process ended: what it had is gone."""
        self._callers.discard(caller)
        self._names = {name: owner for name, owner in self._names.items() if owner != caller.index}

    def _introduce(self, other: int) -> None:
        """Tell a process that (re)started which of its names are ours."""
        for name in self._table.names():
            if self._registrar(name) == other:
                self._links[other].tell(Message.HAVE, name.encode())

    def _forget_process(self, other: int) -> None:
        self._elsewhere = {name: owner for name, owner in self._elsewhere.items() if owner != other}

    # Metrics of all of them

    def collect_metrics(self, answer: Callable[[str], None]) -> None:
        """Prometheus' text of all processes; one that does not answer within a second is left out."""
        found: dict[int, dict[str, Any]] = {self._index: self._metrics.snapshot()}
        waiting = set(self._links)
        done = False

        def finish() -> None:
            nonlocal done
            if not done:
                done = True
                timer.cancel()
                answer(prometheus_text(dict(sorted(found.items()))))

        def take(other: int, payload: bytes | None) -> None:
            waiting.discard(other)
            if payload is not None:
                found[other] = json.loads(payload)
            if not waiting:
                finish()

        timer = asyncio.get_running_loop().call_later(METRICS_SECONDS, finish)
        for other, link in self._links.items():
            link.ask(Message.METRICS, b"", partial(take, other))

    def _path(self, index: int) -> Path:
        return self._folder / f"{index}.sock"


class SiblingGames:
    """Hands out games with tickets that name this process, wherever their sessions start."""

    def __init__(self, games: GameSource, index: int) -> None:
        self._games, self._index = games, index

    def next_game(self, seconds: float, answer: GameAnswer, name: str = "") -> Callable[[], None]:
        def tell(game: Mapping[str, Any] | None) -> None:
            answer(None if game is None else {**game, "ticket": join_ticket(self._index, str(game["ticket"]))})

        return self._games.next_game(seconds, tell, name)


def join_ticket(index: int, ticket: str) -> str:
    """A ticket that says which process handed it out."""
    return f"{index}{TICKET_MARK}{ticket}"


def split_ticket(ticket: str) -> tuple[int | None, str]:
    """The process that handed a ticket out, if it says so, and the ticket as that process knows it."""
    index, mark, own = ticket.partition(TICKET_MARK)
    return (int(index), own) if mark and index.isdecimal() and index.isascii() else (None, ticket)


class _Caller:
    """Another process that has connected to this one."""

    def __init__(self, siblings: Siblings) -> None:
        self._siblings = siblings
        self.index = NOBODY
        self.stream: MessageStream

    def take(self, kind: Message, tag: int, payload: bytes) -> None:
        if kind is Message.HELLO:
            self.index = payload[0]
        else:
            self._siblings.take(self.stream, self.index, kind, tag, payload)


def _send(stream: MessageStream, tag: int, payload: bytes) -> None:
    stream.send(Message.ANSWER, tag, payload)
