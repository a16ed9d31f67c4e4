"""HTTP/1.1 for games: `POST /step` with keep-alive and pipelining, without a task for each request.

See docs/decisions/gateway.md.
"""

from __future__ import annotations

from collections import deque

from workers.gateway.contract import Refused, Step
from workers.gateway.transports.connection import GameConnection
from workers.gateway.transports.front import Front
from workers.gateway.transports.http_pages import Cancel, answer_page
from workers.gateway.transports.http_replies import CONTINUE, OCTETS, any_reply, ok_reply, refusal_reply
from workers.gateway.transports.http_requests import Request, RequestReader


class HttpConnection(GameConnection):
    """Requests of one connection are answered in their order, one at a time; what comes meanwhile waits unread."""

    __slots__ = ("_busy", "_cancel", "_charge", "_keep_alive", "_pumping", "_queue", "_reader")

    def __init__(self, front: Front) -> None:
        super().__init__(front)
        self._reader = RequestReader(front, self._deliver, self._expected)
        self._queue: deque[tuple[Request, bool, int]] = deque()
        """Requests that arrived together with the one under way."""
        self._busy = False
        """A request is under way: its reply is outstanding."""
        self._keep_alive = True
        self._charge = 0
        """Bytes of the budget that the request under way holds."""
        self._cancel: Cancel | None = None
        """Withdraws a question that waits for its answer."""
        self._pumping = False

    def _made(self, trusted: bool) -> None:
        self._reader.trusted = trusted

    def _lost(self) -> None:
        self._reader.close()
        if self._cancel is not None:
            self._cancel()
        for _, _, charge in self._queue:
            self._front.budget.give_back(charge)
        self._queue.clear()

    def _too_many(self, refusal: Refused) -> None:
        self._write(refusal_reply(refusal, keep_alive=False))

    def _is_busy(self) -> bool:
        return self._busy or bool(self._queue)

    def _has_steps(self) -> bool:
        return self._is_busy() and self._cancel is None

    def _in_request(self) -> bool:
        return self._reader.in_message

    def _refuse_questions(self, refusal: Refused) -> None:
        if self._cancel is not None:
            self._cancel()
            self._cancel = None
            self.reply(refusal)

    # Requests

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        if not self._busy:
            tick = self._reader.repeated(data)
            if tick is not None and not self._write_paused:
                self._busy = True
                self._front.metrics.requests["http"] += 1
                self._front.handler.handle(tick, self.reply)
                return
            if not self._reader.in_message:
                self._since = self._front.clock.now
        try:
            self._reader.feed(data)
        except Refused as refusal:
            self._fail(refusal)
        if self._queue and not self._closing:
            self._set_reading(False)

    def _deliver(self, request: Request, keep_alive: bool, charge: int) -> None:
        if self._closing:
            self._front.budget.give_back(charge)
        elif self._busy or self._write_paused or self._queue:
            self._queue.append((request, keep_alive, charge))
        else:
            self._run(request, keep_alive, charge)

    def _run(self, request: Request, keep_alive: bool, charge: int) -> None:
        self._busy = True
        self._keep_alive, self._charge = keep_alive, charge
        if isinstance(request, Step):
            self._front.metrics.requests["http"] += 1
            self._front.handler.handle(request, self.reply)
        elif isinstance(request, Refused):
            self.reply(request)
        else:
            try:
                cancel = answer_page(self._front, request, self._send)
            except Refused as refusal:
                return self.reply(refusal)
            if self._busy:
                self._cancel = cancel
        return None

    def _go_on(self) -> None:
        """Run what waits, without recursion where replies come at once."""
        if self._pumping:
            return
        self._pumping = True
        while self._queue and not self._busy and not self._write_paused:
            self._run(*self._queue.popleft())
        self._pumping = False
        if self._queue or self._busy or self._write_paused:
            return
        if self._closing:
            self._end()
        else:
            self._set_reading(True)

    def _expected(self) -> None:
        """`Expect: 100-continue`: the body comes once it is asked for."""
        if not self._busy and not self._queue:
            self._write(CONTINUE)

    # Replies

    def reply(self, answer: bytes | Refused) -> None:
        """Answer the step under way."""
        if not self._busy:
            return
        if isinstance(answer, Refused):
            self._front.metrics.refused[answer.status] += 1
            self._write(refusal_reply(answer, keep_alive=self._keep_alive))
        elif self._keep_alive:
            self._write(ok_reply(answer))
        else:
            self._write(any_reply(200, OCTETS, answer, keep_alive=False))
        self._done()

    def _send(self, status: int, kind: bytes, body: bytes) -> None:
        """Answer the page under way."""
        if self._busy:
            self._cancel = None
            self._write(any_reply(status, kind, body, keep_alive=self._keep_alive))
            self._done()

    def _done(self) -> None:
        self._busy = False
        self._since = self._front.clock.now
        if self._charge:
            self._front.budget.give_back(self._charge)
            self._charge = 0
        if not self._keep_alive:
            self._closing = True
            for _, _, charge in self._queue:
                self._front.budget.give_back(charge)
            self._queue.clear()
        if self._queue or self._closing or not self._reading:
            self._go_on()

    def _fail(self, refusal: Refused) -> None:
        self._reader.close()
        self._closing = True
        if self._is_busy():  # replies keep the order of requests
            self._queue.append((refusal, False, 0))
            return
        self._front.metrics.refused[refusal.status] += 1
        self._write(refusal_reply(refusal, keep_alive=False))
        self._linger()
