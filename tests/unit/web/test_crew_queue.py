"""Who waits for whom: Temporal is asked about every learner, so readers at the same time share one answer."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from api.schemas.installation.crew_queue import CrewQueue, TrialInQueue
from api.web.live import crew_queue as queues
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

    monkeypatch.setattr(queues, "crew_queue", crew_queue)
    services: Any = SimpleNamespace(
        crew_queues=vars(Services)["crew_queues"].func(None), sessions=None, temporal=None, feed=None
    )
    readers = [asyncio.create_task(queues.shared_crew_queue(services)) for _ in range(5)]
    while not made:
        await asyncio.sleep(0)
    asked.set()
    assert [answer.not_asked for answer in await asyncio.gather(*readers)] == [0] * 5
    assert (await queues.shared_crew_queue(services)).not_asked == 1


def test_a_trial_that_waits_names_those_that_have_the_crews() -> None:
    shares: dict[str, Any] = {"priority": 1.0, "project_priority": 1.0, "share": 0.5, "quota": None}
    about = {**shares, "project_quota": None, "project": "p", "learners": 1, "training": 0, "waiting": []}
    waits = TrialInQueue(**about, trial_id="w", trial="waits", behind=["p/league-1"])
    queue = CrewQueue(trials=[waits], not_asked=0)
    assert queues.trials_ahead(queue, "w") == ["p/league-1"]
    assert queues.trials_ahead(queue, "of another") == []
