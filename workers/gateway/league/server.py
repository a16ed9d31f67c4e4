"""The gateway's end of the control channel: takes demands and orders of crews and matches, while their lease lasts.

A lease is a connection: all that a peer has asked for ends with it, and the sessions under way are aborted. A peer that
says nothing for LEASE_SECONDS has lost it too; a frame may take longer, as long as more of it arrives. See
docs/decisions/remote-games.md.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import structlog

from workers.gateway.league.demand import Demand, GameOrder, Weights, games_of
from workers.gateway.league.director import LeagueDirector
from workers.gateway.league.frames import BadFrame, Frame, read_frame
from workers.gateway.league.handshake import NotAuthentic, SaidNothing, greet_as_gateway
from workers.gateway.league.work import Collection, OpenOrder, Send, Work
from workers.user_errors import UserCodeError, as_user_error

log = structlog.get_logger()

LEASE_SECONDS = 15.0
GREETING_SECONDS = 10.0
ALIVE_SECONDS = 3.0
"""How often a peer hears that its demand is being loaded."""
MOST_PEERS = 1024


class Builder(Protocol):
    """Makes what is to be played: loads agents, models and checkpoints."""

    async def collection(self, demand: Demand, send: Send) -> Collection: ...

    async def order(self, order: GameOrder, send: Send) -> OpenOrder: ...

    def load(self, collection: Collection, weights: Weights) -> None:
        """Let the learner of a collection decide with these weights from now on."""
        ...


class ControlServer:
    """Listens for crews and matches."""

    def __init__(
        self,
        director: LeagueDirector,
        builder: Builder,
        key: str,
        load: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        """`load` describes the load of this process, for an overview."""
        self._director, self._builder, self._key, self._load = director, builder, key, load
        self._peers: set[asyncio.Task[Any]] = set()
        self._server: asyncio.Server | None = None
        self._stopping = False

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> int:
        """Listen; returns the port."""
        self._server = await asyncio.start_server(self._accept, host, port, ssl=tls)
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def stop(self) -> None:
        """Close all connections, which ends their leases."""
        self._stopping = True
        if self._server is not None:
            self._server.close()
        for peer in list(self._peers):
            peer.cancel()
        await asyncio.gather(*self._peers, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._peers.add(task)
        try:
            if len(self._peers) <= MOST_PEERS:
                await self._serve(reader, writer)
        except SaidNothing:
            # the survey of the cluster does so once a minute from each node
            log.debug("a control connection ended before anything was said")
        except (TimeoutError, OSError, EOFError, BadFrame, NotAuthentic) as error:
            log.info("a control connection ended", problem=str(error) or type(error).__name__)
        except asyncio.CancelledError:
            if not self._stopping:
                raise
        finally:
            self._peers.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(GREETING_SECONDS):
            who = (await greet_as_gateway(reader, writer, self._key))["who"]
        peer = _Peer(self._director, self._builder, writer, self._load)
        log.info("a crew or match is connected", who=who)
        try:
            while True:
                await peer.take(await read_frame(reader, pause=LEASE_SECONDS, on_part=peer.alive))
        finally:
            peer.end(f"{who or 'what asked for this game'} is gone")


class _Peer:
    """One connection and what it has asked for."""

    def __init__(
        self,
        director: LeagueDirector,
        builder: Builder,
        writer: asyncio.StreamWriter,
        load: Callable[[], Mapping[str, Any]],
    ) -> None:
        self._director, self._builder, self._writer, self._load = director, builder, writer, load
        self._works: dict[str, Work] = {}
        self._heard = asyncio.get_running_loop().time()

    def alive(self) -> None:
        """Let the peer hear from us while a frame arrives that takes long: its pings are behind it."""
        now = asyncio.get_running_loop().time()
        if now - self._heard > ALIVE_SECONDS:
            self._heard = now
            self.send(Frame("pong"))

    def send(self, frame: Frame) -> None:
        if not self._writer.is_closing():
            self._writer.writelines(frame.encode())

    def end(self, reason: str) -> None:
        """Give up everything: the lease is over."""
        for work in self._works.values():
            self._director.close(work, reason)
        self._works.clear()

    async def take(self, frame: Frame) -> None:
        """Do what a frame asks for."""
        match frame.kind:
            case "ping":
                self.send(Frame("pong", frame.fields))
            case "status":
                name, version = (str(frame.fields.get(key, "")) for key in ("name", "version"))
                self.send(Frame("status", self._director.status(name, version)))
            case "overview":
                self.send(Frame("overview", {**self._load(), "games": self._director.overview()}))
            case "collect" | "order":
                await self._open(frame)
            case _:
                work = self._works.get(str(frame.fields.get("id")))
                if work is not None:  # None: the work was refused, and the refusal is on its way to the peer
                    self._change(work, frame)

    async def _open(self, frame: Frame) -> None:
        id = str(frame.fields.get("id"))
        if (before := self._works.pop(id, None)) is not None:
            self._director.close(before, "it was asked for again")
        try:
            work = await self._built(frame)
            if isinstance(work, OpenOrder):
                self._director.open(work)
        except Exception as error:
            self._refuse(id, error)
            return
        self._works[id] = work

    async def _built(self, frame: Frame) -> Work:
        """Load what a frame asks for. The peer hears from us meanwhile: loading may take longer than it would wait."""
        if frame.kind == "collect":
            building: asyncio.Task[Work] = asyncio.ensure_future(
                self._builder.collection(Demand.from_frame(frame), self.send)
            )
        else:
            building = asyncio.ensure_future(self._builder.order(GameOrder.from_frame(frame), self.send))
        while not (await asyncio.wait([building], timeout=ALIVE_SECONDS))[0]:
            self.send(Frame("pong"))
        return building.result()

    def _refuse(self, id: str, error: Exception) -> None:
        """Tell the peer why this cannot be played, with the user's own traceback where user code raised."""
        shown = as_user_error(error)
        frames = shown.frames if isinstance(shown, UserCodeError) else ""
        log.warning("a demand cannot be met", problem=str(error))
        fields = {"id": id, "problem": str(shown) or type(shown).__name__, "frames": frames}
        self.send(Frame("refused", fields))

    def _change(self, work: Work, frame: Frame) -> None:
        match frame.kind, work:
            case "weights", Collection():
                try:
                    self._builder.load(work, Weights.from_frame(frame))
                    if self._director.find(work.id) is None:
                        self._director.open(work)  # sessions join a collection only once it has weights
                except Exception as error:
                    self._refuse(work.id, error)
            case "taken", Collection():
                work.taken(int(frame.fields["rows"]))
            case "close", Collection():
                work.closing = True
                work.flush()
            case "games", OpenOrder():
                work.add(games_of(frame))
                self._director.offer()
            case "recall", OpenOrder():
                work.recall()
            case "end", _:
                del self._works[work.id]
                self._director.leave(work)
            case "drop", _:
                del self._works[work.id]
                self._director.close(work, str(frame.fields.get("reason", "it is no longer wanted")))
            case _:
                raise BadFrame(f"a frame of kind {frame.kind!r}")
