"""Stand-ins for the train worker's answers on the interactive queue."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from league.types import CheckpointRef
from orchestrator.catalog import Kind
from orchestrator.contracts.interactive import (
    Candidate,
    ComponentCheck,
    ComponentVerdict,
    GatewaySeen,
    GatewaysRequest,
    GatewaysSeen,
    ImportWeights,
    MoveAnswer,
    MoveRequest,
    NamedMoves,
    NameMoves,
    RayNode,
    RayRequest,
    RayResources,
    RemoteGameSeen,
    Replay,
    ReplayedPosition,
    ReplayRequest,
    Unreached,
    check_component,
    choose_move,
    describe_gateways,
    describe_ray,
    import_weights,
    name_moves,
    render_replay,
)
from orchestrator.contracts.trials import InitialWeightsRequest, make_initial_weights
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code.code_archives import plain_name

MEMORY = 100_000
"""Bytes for buffers."""


def position(ply: int, *, done: bool = False) -> ReplayedPosition:
    legal = [] if done else [[Candidate(action=ply, name=str(ply))]]
    return ReplayedPosition(
        ply=ply, seats=[], actions=[], names=[], returns=[0.0, 0.0], done=done, text="board", svg="<svg/>", legal=legal
    )


@activity.defn(name=render_replay.name)
async def render(request: ReplayRequest) -> Replay:
    """Two positions in each part."""
    plies = range(request.first, len(request.moves) + 1)
    following = request.first + 2 if len(plies) > 2 else None
    notation = f"{request.game.id} seat {request.seat}: {request.moves}"
    return Replay(positions=[position(ply) for ply in plies[:2]], notation=notation, next=following)


@activity.defn(name=name_moves.name)
async def name(request: NameMoves) -> NamedMoves:
    return NamedMoves(openings=[[f"move {action}" for action in opening] for opening in request.openings])


@activity.defn(name=choose_move.name)
async def choose(request: MoveRequest) -> MoveAnswer:
    """A game of counting: the next number is the only legal move, and six moves are a game."""
    moves = list(request.moves)
    if request.action is not None:
        if request.action != len(moves):
            raise ApplicationError(f"{request.action} is not legal here", type="bad_input", non_retryable=True)
        moves.append(request.action)
    answered = [len(moves)] if len(moves) % 2 != request.person else []
    moves += answered
    return MoveAnswer(
        moves=moves, position=position(len(moves), done=len(moves) >= 6), answered=answered, search=request.search
    )


@activity.defn(name=check_component.name)
async def check(asked: ComponentCheck) -> ComponentVerdict:
    """Whatever comes from the module `good` can be used; each row of a buffer of DQN takes one byte."""
    if asked.source is not None:
        return ComponentVerdict(usable=asked.source == "best.safetensors", problem=f"there is no file {asked.source!r}")
    if asked.weights is not None:
        return ComponentVerdict(usable=asked.component.id != "dqn", problem="the weights do not fit")
    if asked.model is not None and asked.model.id == "conv":
        return ComponentVerdict(usable=False, problem="the model does not fit", section=Kind.MODEL)
    if asked.component.id == "tic_tac_toe":
        return ComponentVerdict(usable=True, teams=[0, 1])
    if plain_name(asked.component.id).startswith("good:"):
        teams = [0, 1, 2] if asked.component.id == "good:ThreeTeams" else []
        defaults = ["most"] if asked.component.options.get("most") == 21 else []
        return ComponentVerdict(usable=True, teams=teams, defaults=defaults)
    if asked.kind is Kind.ALGORITHM and asked.component.id == "dqn":
        return ComponentVerdict(usable=True, buffer_bytes=asked.component.options["capacity"], buffer_memory=MEMORY)
    return ComponentVerdict(usable=False, problem=f"{asked.kind} {asked.component.id!r} does not import")


@activity.defn(name=describe_ray.name)
async def describe(request: RayRequest) -> RayResources:
    return RayResources(
        version="2.60.0",
        cpus=4.0,
        cpus_available=1.0,
        gpus=0.0,
        gpus_available=0.0,
        memory_bytes=8 << 30,
        memory_available_bytes=6 << 30,
        object_store_bytes=2 << 30,
        object_store_available_bytes=1 << 30,
        nodes=[
            RayNode(address="10.0.0.1", alive=True, cpus=4.0, memory_bytes=8 << 30, object_store_bytes=2 << 30),
            RayNode(
                address="10.0.0.2",
                alive=True,
                cpus=4.0,
                memory_bytes=8 << 30,
                object_store_bytes=2 << 30,
                host="late",
                release=version("lanista"),
                ahead_seconds=-60.0,
                within_seconds=0.01,
            ),
        ],
        asked_at=time.time(),
        unreached=[Unreached(source="late", target="gateway 10.0.0.9:8820", problem="Connection refused")],
    )


@activity.defn(name=describe_gateways.name)
async def describe_gateway(request: GatewaysRequest) -> GatewaysSeen:
    chess = RemoteGameSeen(name="chess", sessions=2, gamecores_waiting=1, heard_seconds=0.5, generations=1, games=12)
    return GatewaysSeen(
        gateways=[
            GatewaySeen(
                address="10.0.0.1:8813", problem="", connections=3, sessions=2, ticks_per_s=1520.5, games=[chess]
            ),
            GatewaySeen(address="10.0.0.2:8813", problem="Connection refused"),
        ]
    )


def weights_file(words: str) -> bytes:
    """A safetensors file without tensors."""
    header = json.dumps({"__metadata__": {"words": words}}).encode()
    return struct.pack("<Q", len(header)) + header


def importing(artifacts: ArtifactStore) -> Callable[..., Any]:
    @activity.defn(name=import_weights.name)
    async def checked(request: ImportWeights) -> CheckpointRef:
        data = artifacts.get(request.uploaded)
        if b"good" not in data:
            raise ApplicationError("the shapes do not fit", type="bad_input", non_retryable=True)
        return artifacts.put(data, kind="checkpoints")

    return checked


def interactive(artifacts: ArtifactStore) -> list[Callable[..., Any]]:
    """All of them."""

    @activity.defn(name=make_initial_weights.name)
    async def weights(request: InitialWeightsRequest) -> CheckpointRef:
        return artifacts.put(f"weights of seed {request.seed}".encode(), kind="checkpoints")

    return [weights, render, name, choose, check, describe, describe_gateway, importing(artifacts)]
