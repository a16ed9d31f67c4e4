"""Temporal Schedules, kept in sync with the rows: created, changed, paused, deleted, fired."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from starlette.concurrency import run_in_threadpool
from temporalio.api.schedule.v1 import SchedulePatch, TriggerImmediatelyRequest
from temporalio.api.workflowservice.v1 import PatchScheduleRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleState,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.common import TypedSearchAttributes
from temporalio.service import RPCError, RPCStatusCode

from api.schemas.enums import TournamentStatus
from api.store.core.engine import Sessions
from api.store.tables import Schedule as Row
from api.store.tournaments.schedules import mark_synced, record_refusal
from api.store.tournaments.workflow_labels import schedule_labels
from orchestrator.contracts.queues import Queue
from orchestrator.contracts.tournaments import TournamentState, schedule_id
from orchestrator.contracts.workflow_labels import WorkflowLabels, summary_line
from orchestrator.search_attributes import SearchAttributeCheck

log = structlog.get_logger()

RPC_TIMEOUT = timedelta(seconds=5)


@dataclass(frozen=True, kw_only=True)
class Firings:
    """The past and future firings of a schedule."""

    fired: int
    skipped_overlap: int
    missed_catchup: int
    next: tuple[datetime, ...]


class TemporalSchedules:
    """The schedules of tournaments at Temporal."""

    def __init__(self, sessions: Sessions, temporal: Client, attributes: SearchAttributeCheck | None = None) -> None:
        self._sessions = sessions
        self._temporal = temporal
        self._attributes = attributes or SearchAttributeCheck(temporal)

    async def apply(self, schedule: str) -> bool:
        """Apply the row to Temporal; False where Temporal does not answer, and reconciliation will retry."""
        row = await run_in_threadpool(self._row, schedule)
        if row is None:
            return True
        try:
            await (self._put(row) if row.deleted_at is None else self._remove(row))
        except (RPCError, RuntimeError) as error:  # the SDK raises RuntimeError where it cannot connect
            log.warning("a schedule could not be applied to Temporal yet", schedule=schedule, error=str(error))
            if isinstance(error, RPCError) and error.status is RPCStatusCode.INVALID_ARGUMENT:
                await run_in_threadpool(self._refused, schedule, str(error))
            return False
        await run_in_threadpool(self._mark, row)
        return True

    async def fire(self, schedule: str, moment: datetime | None = None) -> None:
        """Fire now, by the schedule's overlap policy.

        Several calls for the same moment create one tournament: see `firing_id`.
        """
        trigger = TriggerImmediatelyRequest()
        if moment is not None:
            trigger.scheduled_time.FromDatetime(moment)
        # the SDK's own `trigger` gives every call a new request id; by this one Temporal recognises a retry
        request = PatchScheduleRequest(
            namespace=self._temporal.namespace,
            schedule_id=schedule_id(schedule),
            patch=SchedulePatch(trigger_immediately=trigger),
            identity=self._temporal.identity,
            request_id=str(uuid.uuid4()) if moment is None else f"{schedule}-{moment.isoformat()}",
        )
        await self._temporal.workflow_service.patch_schedule(request, retry=True, timeout=RPC_TIMEOUT)

    async def firings(self, schedule: str) -> Firings | None:
        """Past and next firings; None where Temporal does not answer or does not have the schedule yet."""
        try:
            described = await self._temporal.get_schedule_handle(schedule_id(schedule)).describe(
                rpc_timeout=RPC_TIMEOUT
            )
        except (RPCError, RuntimeError):
            return None
        info = described.info
        return Firings(
            fired=info.num_actions,
            skipped_overlap=info.num_actions_skipped_overlap,
            missed_catchup=info.num_actions_missed_catchup_window,
            next=tuple(info.next_action_times[:5]),
        )

    async def _put(self, row: Row) -> None:
        labels = await run_in_threadpool(self._labels, row.id)
        attributes = labels.search_attributes(TournamentStatus.RUNNING.value)
        await self._attributes.call(attributes, lambda usable: self._send(row, as_temporal(row, labels, usable)))

    async def _send(self, row: Row, wanted: Schedule) -> None:
        try:
            await self._temporal.create_schedule(schedule_id(row.id), wanted, rpc_timeout=RPC_TIMEOUT)
        except ScheduleAlreadyRunningError:

            def replaced(_: ScheduleUpdateInput) -> ScheduleUpdate:
                return ScheduleUpdate(schedule=wanted)

            handle = self._temporal.get_schedule_handle(schedule_id(row.id))
            await handle.update(replaced, rpc_timeout=RPC_TIMEOUT)

    async def _remove(self, row: Row) -> None:
        try:
            await self._temporal.get_schedule_handle(schedule_id(row.id)).delete(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise

    def _row(self, schedule: str) -> Row | None:
        with self._sessions() as session:
            return session.get(Row, schedule)

    def _labels(self, schedule: str) -> WorkflowLabels:
        with self._sessions() as session:
            return schedule_labels(session, schedule)

    def _refused(self, schedule: str, words: str) -> None:
        with self._sessions.begin() as session:
            record_refusal(session, schedule, f"Temporal refuses the schedule: {words}")

    def _mark(self, row: Row) -> None:
        with self._sessions.begin() as session:
            mark_synced(session, row.id, row.revision)


def as_temporal(row: Row, labels: WorkflowLabels, attributes: TypedSearchAttributes) -> Schedule:
    """The row as a Temporal Schedule. Each firing runs a workflow that lasts as long as its tournament."""
    every = [] if row.every_seconds is None else [ScheduleIntervalSpec(every=timedelta(seconds=row.every_seconds))]
    return Schedule(
        action=ScheduleActionStartWorkflow(
            "TournamentWorkflow",
            TournamentState(schedule=row.id),
            id=schedule_id(row.id),
            task_queue=Queue.LEAGUE,
            memo=labels.memo,
            typed_search_attributes=attributes,
            static_summary=summary_line(f"scheduled tournament {labels.summary}"),
        ),
        spec=ScheduleSpec(
            cron_expressions=[] if row.cron is None else [row.cron], intervals=every, time_zone_name=row.time_zone
        ),
        policy=SchedulePolicy(
            overlap=ScheduleOverlapPolicy[row.overlap.value.upper()],
            # ten seconds is Temporal's minimum
            catchup_window=timedelta(seconds=max(10, row.catchup_window_seconds)),
        ),
        state=ScheduleState(paused=row.paused, note=row.pause_note),
    )
