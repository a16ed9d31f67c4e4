"""Who waits for whom: Temporal is asked about every learner, so readers at the same time share one answer."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from api.schemas.installation.crew_queue import CrewQueue
from api.web.routes import system
from api.web.services import Services


async def test_readers_at_the_same_time_share_an_answer_and_later_ones_get_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[CrewQueue] = []
    asked = asyncio.Event()

    async def crew_queue(*_: object) -> CrewQueue:
        made.append(CrewQueue(trials=[], not_asked=len(made)))
        await asked.wait()
        return made[-1]

    monkeypatch.setattr(system, "crew_queue", crew_queue)
    services: Any = SimpleNamespace(
        crew_queues=vars(Services)["crew_queues"].func(None), sessions=None, temporal=None, feed=None
    )
    readers = [asyncio.create_task(system.queue(services, None)) for _ in range(5)]  # type: ignore[arg-type]
    while not made:
        await asyncio.sleep(0)
    asked.set()
    assert [answer.not_asked for answer in await asyncio.gather(*readers)] == [0] * 5
    assert (await system.queue(services, None)).not_asked == 1  # type: ignore[arg-type]
