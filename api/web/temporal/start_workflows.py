"""Starting workflows: the row is committed first, the workflow follows; what a crash left between is made up for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import structlog
from starlette.concurrency import run_in_threadpool
from temporalio.client import Client
from temporalio.common import TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from api.schemas.enums import TournamentStatus, TrialStatus
from api.store.core.engine import Session, Sessions
from api.store.tables import Tournament
from api.store.tournaments.labels import tournament_labels
from api.store.tournaments.started import mark_tournament_started, unstarted_tournaments
from api.store.trials.labels import trial_labels
from api.store.trials.started import mark_started, unstarted_trials
from orchestrator.contracts.labels import WorkflowLabels
from orchestrator.contracts.queues import Queue
from orchestrator.contracts.tournaments import TournamentState, tournament_workflow_id
from orchestrator.contracts.workflows import TrialState, trial_workflow_id
from orchestrator.search_attributes import SearchAttributeCheck

log = structlog.get_logger()

BATCH = 100
AT_ONCE = 10
RPC_TIMEOUT = timedelta(seconds=5)


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A kind of row that lives as a workflow."""

    workflow: str
    workflow_id: Callable[[str], str]
    state: Callable[[str], Any]
    """What the workflow begins with."""
    unstarted: Callable[[Session, int], Sequence[str]]
    mark: Callable[[Session, str], None]
    labels: Callable[[Session, str], WorkflowLabels]
    """How Temporal's own page names the workflow."""
    status: str
    """The status that the workflow starts with."""


TRIALS = Recorded(
    workflow="TrialWorkflow",
    workflow_id=trial_workflow_id,
    state=lambda row_id: TrialState(trial=row_id),
    unstarted=unstarted_trials,
    mark=mark_started,
    labels=trial_labels,
    status=TrialStatus.PENDING.value,
)
TOURNAMENTS = Recorded(
    workflow="TournamentWorkflow",
    workflow_id=tournament_workflow_id,
    state=lambda row_id: TournamentState(tournament=row_id),
    unstarted=unstarted_tournaments,
    mark=mark_tournament_started,
    labels=tournament_labels,
    status=TournamentStatus.RUNNING.value,
)


def workflow_id_of(tournament: Tournament) -> str:
    """The id of the workflow that holds it: a schedule's firing is named by Temporal, and is the occasion."""
    if tournament.schedule_id is not None and tournament.occasion is not None:
        return tournament.occasion
    return tournament_workflow_id(tournament.id)


class WorkflowStarter:
    """Gives each recorded row exactly one workflow, however often it is asked to."""

    def __init__(
        self, recorded: Recorded, sessions: Sessions, temporal: Client, attributes: SearchAttributeCheck | None = None
    ) -> None:
        self._recorded = recorded
        self._sessions = sessions
        self._temporal = temporal
        self._attributes = attributes or SearchAttributeCheck(temporal)

    async def start(self, row_id: str) -> bool:
        """Start the row's workflow; False where Temporal does not answer, and reconciliation will see to it."""
        workflow_id = self._recorded.workflow_id(row_id)
        try:
            labels = await run_in_threadpool(self._labels, row_id)
            attributes = labels.search_attributes(self._recorded.status)
            await self._attributes.call(attributes, partial(self._send, row_id, labels))
        except WorkflowAlreadyStartedError:
            log.info("the workflow was there already", workflow=workflow_id)
        except (RPCError, RuntimeError) as error:  # RuntimeError is how the SDK says it cannot connect
            log.warning("a workflow could not be started yet", workflow=workflow_id, error=str(error))
            return False
        await run_in_threadpool(self._mark, row_id)
        return True

    async def _send(self, row_id: str, labels: WorkflowLabels, attributes: TypedSearchAttributes) -> None:
        await self._temporal.start_workflow(
            self._recorded.workflow,
            self._recorded.state(row_id),
            id=self._recorded.workflow_id(row_id),
            task_queue=Queue.LEAGUE,
            # it lives once: one that has ended is not started again
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            memo=labels.memo,
            search_attributes=attributes,
            static_summary=labels.summary,
            rpc_timeout=RPC_TIMEOUT,
        )

    async def reconcile(self) -> int:
        """Start every row that has no confirmed workflow; returns how many were started."""
        started = 0
        slots = asyncio.Semaphore(AT_ONCE)

        async def one(row_id: str) -> bool:
            async with slots:
                return await self.start(row_id)

        while waiting := await run_in_threadpool(self._unstarted):
            results = await asyncio.gather(*(one(row_id) for row_id in waiting))
            started += sum(results)
            if not all(results) or len(waiting) < BATCH:
                break
        return started

    def _unstarted(self) -> list[str]:
        with self._sessions() as session:
            return list(self._recorded.unstarted(session, BATCH))

    def _labels(self, row_id: str) -> WorkflowLabels:
        with self._sessions() as session:
            return self._recorded.labels(session, row_id)

    def _mark(self, row_id: str) -> None:
        with self._sessions.begin() as session:
            self._recorded.mark(session, row_id)
