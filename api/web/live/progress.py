"""Live progress: heartbeats of running generations, polled each second while a client follows the trial."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from temporalio.api.enums.v1 import ApplicationErrorCategory, PendingActivityState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import Client
from temporalio.converter import ActivitySerializationContext
from temporalio.service import RPCError

from api.schemas.events import GenerationProgress, Progress
from api.schemas.progress import TrainingSpeed
from api.store.core.engine import Sessions
from api.store.trials.reads import learners
from api.store.trials.speed import RecentTraining, recent_training
from api.web.live.feed import EventFeed
from league.training_speed import TrainedSpan, seconds_left, steps_per_second
from orchestrator.contracts.generations import plan_generation, train_generation
from orchestrator.contracts.workflows import player_workflow_id

log = structlog.get_logger()

POLL_SECONDS = 1.0
QUEUED = "a crew, in the queue"
MAX_CONCURRENT = 16
LEARNERS_PER_SECOND = 100
"""Heartbeats read a second: with more learners progress comes less often, for each is a question to Temporal."""


@dataclass(frozen=True, slots=True)
class UnderWay:
    """What a trial does now: its generations under way, and how fast it trains (None where it does not run)."""

    generations: list[GenerationProgress]
    speed: TrainingSpeed | None


@dataclass(frozen=True, slots=True)
class _Attempt:
    """An attempt at a generation, when it began, and when its worker last told of it (seconds since 1970)."""

    progress: GenerationProgress
    began: float
    told: float

    @property
    def span(self) -> TrainedSpan:
        return TrainedSpan(self.progress.steps or 0, self.began, self.told)


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
            asked = 0
            for trial_id in [trial for trial in self._feed.listeners if trial]:
                try:
                    asked += await self._poll(trial_id)
                except Exception as error:  # progress is shown again when Postgres or Temporal is back
                    log.debug("no progress to show", trial=trial_id, error=type(error).__name__)
            await asyncio.sleep(max(POLL_SECONDS, asked / LEARNERS_PER_SECOND))

    async def under_way(self, trial_id: str) -> UnderWay:
        """The generations of the trial that are under way now, and its speed with them."""
        players, recent = await run_in_threadpool(self._read, trial_id)
        found = await asyncio.gather(*(self._attempt(*player) for player in players))
        attempts = [attempt for attempt in found if attempt is not None]
        speed = None if recent is None else speed_of(recent, [attempt.span for attempt in attempts])
        return UnderWay([attempt.progress for attempt in attempts], speed)

    async def attempt_of(self, player_id: str, name: str, generation: int) -> GenerationProgress | None:
        """The player's generation that is under way or waits; None between two."""
        attempt = await self._attempt(player_id, name, generation, held=True)
        return None if attempt is None else attempt.progress

    async def _poll(self, trial_id: str) -> int:
        """Publish the progress; returns how many generations are under way."""
        now = await self.under_way(trial_id)
        if now.generations or now.speed:
            self._feed.publish_progress(trial_id, Progress(generations=now.generations, speed=now.speed))
        return len(now.generations)

    def _read(self, trial_id: str) -> tuple[list[tuple[str, str, int]], RecentTraining | None]:
        with self._sessions() as session:
            players = [(row[0], row[1], row[2]) for row in learners(session, trial_id)]
            return players, recent_training(session, trial_id, datetime.now(UTC))

    async def _attempt(self, player_id: str, name: str, generation: int, held: bool = False) -> _Attempt | None:
        """The player's attempt at its next generation; with `held`, also one that may not be planned yet."""
        handle = self._temporal.get_workflow_handle(player_workflow_id(player_id))
        try:
            async with self._slots:
                description = await handle.describe()
        except RPCError:
            return None
        for activity in description.raw_description.pending_activities:
            about = {"player_id": player_id, "player": name, "generation": generation + 1}
            if held and activity.activity_type.name == plan_generation.name and _is_held(activity):
                waiting = f"its turn: {activity.last_failure.message}"
                return _Attempt(GenerationProgress.model_validate({**about, "waiting": waiting}), 0.0, 0.0)
            if activity.activity_type.name == train_generation.name:
                details = await self._details(handle.id, activity)
                try:
                    progress = GenerationProgress.model_validate({**about, **details})
                except ValidationError:  # an algorithm of a user's own may report what does not fit
                    progress = GenerationProgress.model_validate({**about, "attempt": activity.attempt})
                began, told = activity.last_started_time, activity.last_heartbeat_time
                return _Attempt(progress, began.ToMicroseconds() / 1e6, told.ToMicroseconds() / 1e6)
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
        # an attempt that has not begun, or told nothing yet, still has the last words of the one before
        own = activity.last_heartbeat_time.ToMicroseconds() >= activity.last_started_time.ToMicroseconds()
        payloads = activity.heartbeat_details.payloads if own else []
        values = await converter.decode(payloads) if payloads else []
        progress = values[0] if values and isinstance(values[0], dict) else {}
        if activity.state == PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED:
            progress = {**progress, "waiting": QUEUED}
        return {"attempt": activity.attempt, "progress": progress}


def _is_held(activity: PendingActivityInfo) -> bool:
    """Whether the store answered that it is not this generation's turn yet, which is no failure."""
    benign = ApplicationErrorCategory.APPLICATION_ERROR_CATEGORY_BENIGN
    return activity.last_failure.application_failure_info.category == benign


def speed_of(recent: RecentTraining, under_way: Sequence[TrainedSpan]) -> TrainingSpeed:
    """The speed that the list, the trial's page and the command line show."""
    now = datetime.now(UTC).timestamp()
    pending = sum(span.steps for span in under_way)
    speed = steps_per_second([*recent.spans, *under_way], since=recent.since, now=now)
    return TrainingSpeed(
        steps_per_second=speed,
        measured_seconds=max(0.0, now - recent.since),
        steps_under_way=pending,
        seconds_left=seconds_left(budget=recent.budget, steps=recent.steps + pending, speed=speed),
    )
