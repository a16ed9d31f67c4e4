"""Live progress: heartbeats of running generations, polled each second while a client follows the trial."""

from __future__ import annotations

import asyncio
from typing import Any

import structlog
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import Client
from temporalio.converter import ActivitySerializationContext
from temporalio.service import RPCError

from api.schemas.events import GenerationProgress, Progress
from api.store.core.engine import Sessions
from api.store.trials.reads import learners
from api.web.live.feed import EventFeed
from orchestrator.contracts.generations import train_generation
from orchestrator.contracts.workflows import player_workflow_id

log = structlog.get_logger()

POLL_SECONDS = 1.0
MAX_CONCURRENT = 16


class ProgressPoller:
    """Puts the heartbeats of running generations into the event feed, as events without an id."""

    def __init__(self, sessions: Sessions, temporal: Client, feed: EventFeed) -> None:
        self._sessions = sessions
        self._temporal = temporal
        self._feed = feed
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)

    async def run(self) -> None:
        """Poll until cancelled."""
        while True:
            for trial_id in [trial for trial in self._feed.listeners if trial]:
                try:
                    await self._poll(trial_id)
                except Exception as error:  # progress is shown again when Postgres or Temporal is back
                    log.debug("no progress to show", trial=trial_id, error=type(error).__name__)
            await asyncio.sleep(POLL_SECONDS)

    async def generations(self, trial_id: str) -> list[GenerationProgress]:
        """The generations of the trial that are under way now."""
        players = await run_in_threadpool(self._learners, trial_id)
        found = await asyncio.gather(*(self._generation(*player) for player in players))
        return [progress for progress in found if progress is not None]

    async def _poll(self, trial_id: str) -> None:
        under_way = await self.generations(trial_id)
        if under_way:
            self._feed.publish_progress(trial_id, Progress(generations=under_way))

    def _learners(self, trial_id: str) -> list[tuple[str, str, int]]:
        with self._sessions() as session:
            return [(row[0], row[1], row[2]) for row in learners(session, trial_id)]

    async def _generation(self, player_id: str, name: str, generation: int) -> GenerationProgress | None:
        handle = self._temporal.get_workflow_handle(player_workflow_id(player_id))
        try:
            async with self._slots:
                description = await handle.describe()
        except RPCError:
            return None
        for activity in description.raw_description.pending_activities:
            if activity.activity_type.name == train_generation.name:
                details = await self._details(handle.id, activity)
                about = {"player_id": player_id, "player": name, "generation": generation + 1}
                try:
                    return GenerationProgress.model_validate({**about, **details})
                except ValidationError:  # an algorithm of a user's own may report what does not fit
                    return GenerationProgress.model_validate({**about, "attempt": activity.attempt})
        return None

    async def _details(self, workflow_id: str, activity: PendingActivityInfo) -> dict[str, Any]:
        context = ActivitySerializationContext(
            namespace=self._temporal.namespace,
            workflow_id=workflow_id,
            workflow_type=None,
            activity_id=activity.activity_id,
            activity_type=activity.activity_type.name,
            activity_task_queue=train_generation.queue,
            is_local=False,
        )
        converter = self._temporal.data_converter.with_context(context)
        payloads = activity.heartbeat_details.payloads
        values = await converter.decode(payloads) if payloads else []
        progress = values[0] if values and isinstance(values[0], dict) else {}
        return {"attempt": activity.attempt, "progress": progress}
