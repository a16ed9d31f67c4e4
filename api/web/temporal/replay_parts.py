"""Replays from a worker: a long game comes in several answers, each small enough for Temporal."""

from __future__ import annotations

from dataclasses import replace

from temporalio.client import Client

from api.web.temporal.ask_worker import ask
from orchestrator.contracts.interactive import Replay, ReplayRequest, render_replay


async def ask_for_replay(temporal: Client, request: ReplayRequest, first: int | None) -> Replay:
    """The part of the replay that begins at `first`; None: all of it."""
    part = await ask(temporal, render_replay, replace(request, first=first or 0))
    positions = list(part.positions)
    while first is None and part.next is not None:
        part = await ask(temporal, render_replay, replace(request, first=part.next))
        positions += part.positions
    return replace(part, positions=positions)
