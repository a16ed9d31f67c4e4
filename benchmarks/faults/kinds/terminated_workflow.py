"""A player's workflow terminated by hand, as in Temporal's Web UI."""

from __future__ import annotations

import asyncio

from benchmarks.faults.campaign.arena import Arena, Struck
from benchmarks.faults.campaign.temporal_client import player_workflow, temporal_client


def terminate_workflow(arena: Arena) -> Struck:
    """Terminate a player's workflow: the API finds it missing and has it started again."""
    player = arena.rng.choice(sorted(arena.by_player()))

    async def terminate() -> None:
        client = await temporal_client(arena.stack.home)
        await client.get_workflow_handle(player_workflow(player)).terminate("by hand")

    asyncio.run(terminate())
    return Struck(mark=arena.mark(), players=(player,))
