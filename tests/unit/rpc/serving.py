"""A gRPC server in the test's own event loop, and fakes of what stands behind it."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import grpc
import numpy as np

from orchestrator.catalog import Component
from workers.algorithms.building import fresh_weights
from workers.checkpoints import Checkpoint, encode
from workers.games.names import make_game
from workers.gateway.auth import Access
from workers.gateway.contract import Refused, Reply, Step, StepKind
from workers.gateway.limits import Clock, GatewayLimits
from workers.gateway.metrics import GatewayMetrics
from workers.gateway.rpc.binding import RpcService
from workers.gateway.rpc.registry import VersionRef
from workers.gateway.rpc.server import RpcOptions, RpcServer
from workers.gateway.transports.front import Front


class EchoTable:
    """Answers each step with its kind and body; keeps sessions in order as a session table does."""

    def __init__(self) -> None:
        self.open: set[str] = set()
        self.steps: list[Step] = []
        self.held: list[Reply] = []
        """Replies of ticks with the body `held_body`."""
        self.held_body = b"hold"

    def handle(self, step: Step, reply: Reply) -> None:
        self.steps.append(step)
        if step.kind is StepKind.START:
            if step.session in self.open:
                reply(Refused(409, f"Session {step.session!r} has started already."))
                return
            self.open.add(step.session)
        elif step.kind is not StepKind.AUTO and step.session not in self.open:
            reply(Refused(404, f"There is no session {step.session!r}."))
            return
        elif step.kind is StepKind.END:
            self.open.discard(step.session)
        if step.body == self.held_body:
            self.held.append(reply)
        elif step.body == b"later":
            reply(Refused(503, "Try again.", 2.5))
        else:
            reply(step.kind.encode() + b":" + step.body)


def make_front(handler: Any, access: Access | None = None, **limits: Any) -> Front:
    return Front(handler, Clock(), GatewayLimits(**limits), GatewayMetrics(), access or Access())


@asynccontextmanager
async def serving(
    *services: RpcService, access: Access | None = None, options: RpcOptions | None = None
) -> AsyncIterator[str]:
    """The address of a server of these services."""
    server = RpcServer(options or RpcOptions(), services, access or Access())
    await server.start()
    try:
        yield f"127.0.0.1:{server.port}"
    finally:
        await server.stop()


@asynccontextmanager
async def connected(*services: RpcService, **more: Any) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to a server of these services."""
    async with serving(*services, **more) as address, grpc.aio.insecure_channel(address) as channel:
        yield channel


class FakeRegistry:
    """Versions with random weights of tic-tac-toe networks; aliases move when a test says so."""

    def __init__(self, versions: int = 2, model: Component | None = None) -> None:
        self.files = [checkpoint(seed, model) for seed in range(versions)]
        self.versions = [
            VersionRef(
                id=f"version-{number}",
                player="main",
                number=number,
                steps=100 * number,
                sha256=hashlib.sha256(data).hexdigest(),
                origin="trained",
            )
            for number, data in enumerate(self.files)
        ]
        self.holder = 0
        self.finds = 0
        self.moves: Any = None
        self.published: list[dict[str, Any]] = []

    async def find(self, model: str) -> VersionRef:
        self.finds += 1
        if model == "champion":
            return replace(self.versions[self.holder], alias="default@champion")
        for version in self.versions:
            if version.id == model:
                return version
        raise Refused(404, f"there is no version {model!r}")

    async def checkpoint(self, version: VersionRef) -> bytes:
        return self.files[version.number]

    async def follow(self, model: str) -> AsyncIterator[VersionRef]:
        import asyncio

        self.moves = asyncio.Queue()
        yield await self.find(model)
        while True:
            self.holder = await self.moves.get()
            yield await self.find(model)

    async def publish(self, *, trial: str, name: str, like: str | None, data: bytes) -> VersionRef:
        self.published.append({"trial": trial, "name": name, "like": like, "data": data})
        return replace(self.versions[0], id="imported", player=name, origin="imported")


def checkpoint(seed: int, model: Component | None = None) -> bytes:
    """A checkpoint of tic-tac-toe with random weights."""
    model = model or Component(id="mlp", options={"hidden": [16]})
    spec = make_game("tic_tac_toe", 1).spec
    weights, algorithm = fresh_weights(model, None, spec, seed)
    game = Component(id="tic_tac_toe", options={})
    return encode(Checkpoint(model=model, game=game, weights=weights, algorithm=algorithm))


def boards(rows: int) -> dict[str, Any]:
    """Observations of tic-tac-toe and masks."""
    game = make_game("tic_tac_toe", rows)
    game.reset(np.arange(rows, dtype=np.uint64))
    turn = game.turn()
    return {"obs": turn.observations.copy(), "legal": turn.legal.copy()}
