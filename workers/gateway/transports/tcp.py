"""TCP for games: frames of our own, and Bray's; many sessions may share a connection.

See docs/decisions/gateway.md.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from workers.gateway.contract import Refused, Step
from workers.gateway.limits import SMALL_BODY
from workers.gateway.transports.bray_frames import BrayFrames
from workers.gateway.transports.connection import GameConnection
from workers.gateway.transports.front import Front
from workers.gateway.transports.http_pages import next_game
from workers.gateway.transports.http_replies import refusal_reply
from workers.gateway.transports.tcp_frames import MAGIC, FrameCodec, Key, Next, OwnFrames, Request

log = logging.getLogger(__name__)

HTTP_METHODS = (b"GET ", b"POST", b"HEAD", b"PUT ")


class TcpConnection(GameConnection):
    """Steps of one session are handled in their order, those of several side by side."""

    __slots__ = (
        "_allowed",
        "_busy",
        "_cancels",
        "_charge",
        "_chunks",
        "_codec",
        "_have",
        "_need",
        "_processing",
        "_solo_name",
        "_under_way",
    )

    def __init__(self, front: Front) -> None:
        super().__init__(front)
        self._codec: FrameCodec | None = None
        self._allowed = False
        """The peer needs no token, or has sent it."""
        self._chunks: list[bytes] = []
        self._have = 0
        self._need = 1
        """Bytes that must be there before it is worth to look again."""
        self._charge = 0
        """Bytes of the budget that the frame under way from the peer holds."""
        self._busy: dict[bytes, deque[tuple[Any, Step, int]] | None] = {}
        """Sessions with a step under way, and the steps that wait behind it."""
        self._under_way = 0
        self._solo_name = b""
        """The session of the only step under way, which needs no place in `_busy`."""
        self._cancels: dict[Any, Callable[[], None]] = {}
        """Withdraw questions that wait for their answers."""
        self._processing = False

    def _made(self, trusted: bool) -> None:
        self._allowed = trusted

    def _lost(self) -> None:
        give_back = self._front.budget.give_back
        give_back(self._charge)
        self._charge = 0
        for waiting in self._busy.values():
            for _, _, charge in waiting or ():
                give_back(charge)
        self._busy.clear()
        self._chunks.clear()
        for cancel in self._cancels.values():
            cancel()
        self._cancels.clear()

    def _refuse_questions(self, refusal: Refused) -> None:
        cancels, self._cancels = self._cancels, {}
        for tag, cancel in cancels.items():
            cancel()
            self._under_way -= 1
            self._answer(tag, refusal)

    def _too_many(self, refusal: Refused) -> None:
        """Nothing says yet which frames the peer speaks."""

    def _is_busy(self) -> bool:
        return self._under_way > 0

    def _has_steps(self) -> bool:
        return self._under_way > len(self._cancels)

    def _in_request(self) -> bool:
        return self._have > 0

    # Frames

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        codec = self._codec
        if not self._have:
            # fast path, taken by nearly all ticks: small, complete, and nothing else in progress
            front = self._front
            if not self._under_way and codec is not None and self._allowed and self._reading:
                step = codec.lone_tick(data)
                if step is not None:
                    self._solo_name = codec.lone_name
                    self._under_way = 1
                    front.metrics.requests["tcp"] += 1
                    front.handler.handle(step, self._reply_solo)
                    return
            self._since = front.clock.now
        self._chunks.append(data)
        self._have += len(data)
        if self._have >= self._need:
            self._process()

    def _process(self) -> None:
        """Handle the whole frames that have arrived, and keep the rest."""
        if self._processing or not self._chunks:
            return
        self._processing = True
        if self._solo_name:  # the lone tick now has company: track its session
            self._busy.setdefault(self._solo_name, None)
        data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        at = 0
        try:
            codec = self._codec or self._recognise(data)
            while not self._closing:
                if self._under_way >= self._front.limits.under_way or self._write_paused:
                    self._set_reading(False)
                    self._need = 1
                    break
                if (size := self._frame(codec, data, at)) == 0:
                    break
                at += size
        except Refused as refusal:
            self._fail(refusal)
        finally:
            self._processing = False
        rest = data[at:] if not self._closing else b""
        self._chunks = [rest] if rest else []
        self._have = len(rest)

    def _frame(self, codec: FrameCodec, data: bytes, at: int) -> int:
        """Handle the frame at `at` and return its size; 0 where it is not whole yet."""
        here = len(data) - at
        if here < codec.head_size:
            self._need = codec.head_size
            return 0
        size = codec.size(data, at)
        if size > SMALL_BODY and not self._charge:
            if not self._front.budget.take(size):
                raise Refused(503, "This gateway holds as many large bodies as it may: try again.", 1.0)
            self._charge = size
        if here < size:
            self._need = size
            return 0
        charge, self._charge = self._charge, 0
        self._need = 1
        tag, name, request, token = codec.request(data, at, size)
        self._take(tag, name, request, token, charge)
        return size

    def _recognise(self, data: bytes) -> FrameCodec:
        """By the first byte: ours is an L; Bray's length of a session's name begins with a zero."""
        if data[0] == MAGIC:
            self._codec = OwnFrames(self._front.limits.body_bytes)
        elif data[0] == 0:
            self._codec = BrayFrames(self._front.limits.body_bytes)
        elif data[:4] in HTTP_METHODS:
            refusal = Refused(400, "This port takes frames over TCP; HTTP has a port of its own.")
            self._write(refusal_reply(refusal, keep_alive=False))
            raise refusal
        else:
            raise Refused(400, "This is neither a frame of ours, which begins with an L, nor one of Bray's.")
        return self._codec

    def _take(self, tag: Any, name: bytes, request: Request, token: bytes, charge: int) -> None:
        if not self._allowed and not (token and self._front.access.knows(token)):
            self._front.budget.give_back(charge)
            self._let_in(tag, request)
        elif isinstance(request, Step):
            self._under_way += 1
            if name not in self._busy:
                self._busy[name] = None
                self._run(tag, name, request, charge)
            else:
                waiting = self._busy[name] = self._busy[name] or deque()
                waiting.append((tag, request, charge))
        else:
            self._front.budget.give_back(charge)
            if isinstance(request, Next):
                self._next(tag, request)
            else:
                self._answer(tag, request if isinstance(request, Refused) else b"")

    def _run(self, tag: Any, name: bytes, step: Step, charge: int) -> None:
        self._front.metrics.requests["tcp"] += 1
        self._front.handler.handle(step, partial(self._reply, tag, name, charge))

    def _run_waiting(self, name: bytes) -> None:
        waiting = self._busy.get(name)
        if waiting:
            tag, step, charge = waiting.popleft()
            self._run(tag, name, step, charge)

    def _let_in(self, tag: Any, request: Request) -> None:
        if isinstance(request, Key) and self._front.access.knows(request.token):
            self._allowed = True
            self._answer(tag, b"")
        else:
            text = "This gateway needs a token: send it first, in a frame of kind 5 (key)."
            self._answer(tag, Refused(401, text))
            self._linger()

    def _next(self, tag: Any, request: Next) -> None:
        answered = False

        def answer(game: Mapping[str, Any] | None) -> None:
            nonlocal answered
            answered = True
            self._cancels.pop(tag, None)
            self._under_way -= 1
            self._answer(tag, b"" if game is None else json.dumps(game).encode())
            self._go_on()

        self._under_way += 1
        try:
            cancel = next_game(self._front, request.seconds, request.game, answer)
        except Refused as refusal:
            self._under_way -= 1
            return self._answer(tag, refusal)
        if not answered:
            self._cancels[tag] = cancel
        return None

    # Replies

    def _reply_solo(self, answer: bytes | Refused) -> None:
        codec = self._codec
        assert codec is not None
        name, self._solo_name = self._solo_name, b""
        if self._busy or type(answer) is not bytes:
            return self._reply(codec.lone_tag, name, 0, answer)
        front = self._front
        self._under_way = 0
        self._since = front.clock.now
        if self._unsent:
            self._unsent += codec.reply_to_lone(answer)
        else:
            self._unsent = codec.reply_to_lone(answer)
            front.outbox.add(self)
        if not self._reading or self._closing:
            self._go_on()
        return None

    def _reply(self, tag: Any, name: bytes, charge: int, answer: bytes | Refused) -> None:
        self._under_way -= 1
        if charge:
            self._front.budget.give_back(charge)
        if self._transport is None:
            return
        self._answer(tag, answer)
        waiting = self._busy.pop(name, None)
        if waiting:  # by call_soon, since immediate replies would recurse
            self._busy[name] = waiting
            asyncio.get_running_loop().call_soon(self._run_waiting, name)
        if not self._reading or self._closing:
            self._go_on()

    def _answer(self, tag: Any, answer: bytes | Refused) -> None:
        codec = self._codec
        assert codec is not None
        self._since = self._front.clock.now
        if type(answer) is not bytes:
            assert isinstance(answer, Refused)
            self._front.metrics.refused[answer.status] += 1
        data = codec.reply(tag, answer)
        if data is None:
            log.debug("a connection is closed: %s", answer)
            self._linger()
        else:
            self._write(data)

    def _go_on(self) -> None:
        if self._closing:
            if not self._under_way:
                self._end()
        elif not self._write_paused and self._under_way < self._front.limits.under_way:
            self._set_reading(True)
            self._process()

    def _fail(self, refusal: Refused) -> None:
        self._front.metrics.refused[refusal.status] += 1
        data = self._codec.reply_to_unread(refusal) if self._codec is not None else None
        if data is None:
            log.debug("a connection is closed: %s", refusal.text)
        else:
            self._write(data)
        self._linger()
