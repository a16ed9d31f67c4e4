"""A result delivered twice: the same `record_generation`, with the same message, once more and twice at once."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sqlalchemy import create_engine
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from api.activities.generations import GenerationActivities
from benchmarks.faults.campaign.arena import Arena, Struck
from benchmarks.faults.campaign.temporal_client import player_workflow, temporal_client
from lanista.stack.reach import reach
from orchestrator.contracts.generations import GenerationReport, Recorded, record_generation
from orchestrator.storage.artifacts import ArtifactStore


class Doubled(Exception):
    """The second delivery had an effect or another answer."""


def deliver_twice(arena: Arena) -> Struck:
    """Read a player's last recorded message from its workflow's history, and run the store's activity with it again."""
    player = arena.rng.choice(sorted(arena.by_player()))
    report, first = asyncio.run(_last_record(arena, player))
    if report is None or first is None:
        return Struck(mark=arena.mark(), players=(player,), note="a new run had just begun: nothing to repeat")
    environment = reach(arena.stack.home)
    engine = create_engine(environment["LANISTA_DATABASE_URL"])
    try:
        store = GenerationActivities(engine, ArtifactStore(environment["LANISTA_ARTIFACTS"]), stall_seconds=60.0)

        def deliver(_: int) -> Recorded:
            answer: Recorded = ActivityEnvironment().run(store.record_generation, report)
            return answer

        with ThreadPoolExecutor(2) as both:
            answers = list(both.map(deliver, range(2)))
    finally:
        engine.dispose()
    for answer in answers:
        if (answer.commit, answer.version) != (first.commit, first.version):
            raise Doubled(f"generation of {player}: first {first.commit}, {first.version}; then {answer.commit}")
    return Struck(mark=arena.mark(), players=(player,), note=f"commit {first.commit}")


async def _last_record(arena: Arena, player: str) -> tuple[GenerationReport | None, Recorded | None]:
    client = await temporal_client(arena.stack.home)
    handle = client.get_workflow_handle(player_workflow(player))
    scheduled: dict[int, Any] = {}
    found: tuple[GenerationReport | None, Recorded | None] = None, None
    async for event in handle.fetch_history_events():
        if event.HasField("activity_task_scheduled_event_attributes"):
            attributes = event.activity_task_scheduled_event_attributes
            if attributes.activity_type.name == record_generation.name:
                scheduled[event.event_id] = attributes.input
        elif event.HasField("activity_task_completed_event_attributes"):
            done = event.activity_task_completed_event_attributes
            if done.scheduled_event_id in scheduled:
                given = scheduled[done.scheduled_event_id]
                found = await _decode(client, given, GenerationReport), await _decode(client, done.result, Recorded)
    return found


async def _decode(client: Client, payloads: Any, kind: type[Any]) -> Any:
    return (await client.data_converter.decode(payloads.payloads, [kind]))[0]
