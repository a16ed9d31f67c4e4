"""Starts workflows: the row is committed first, then the workflow is started; after a crash reconciliation does it."""

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

from api.schemas.enums import ProbeStatus, SweepStatus, TournamentStatus, TrialStatus
from api.store.core.engine import Session, Sessions
from api.store.probes.started import mark_probe_started, probe_labels, unstarted_probes
from api.store.sweeps.started import mark_sweep_started, sweep_labels, unstarted_sweeps
from api.store.tables import Tournament
from api.store.tournaments.started import mark_tournament_started, unstarted_tournaments
from api.store.tournaments.workflow_labels import tournament_labels
from api.store.trials.started import mark_started, unstarted_trials
from api.store.trials.workflow_labels import trial_labels
from orchestrator.contracts.probes import ProbeState, probe_workflow_id
from orchestrator.contracts.queues import Queue
from orchestrator.contracts.sweeps import SweepState, sweep_workflow_id
from orchestrator.contracts.tournaments import TournamentState, tournament_workflow_id
from orchestrator.contracts.workflow_labels import WorkflowLabels
from orchestrator.contracts.workflows import TrialState, trial_workflow_id
from orchestrator.search_attributes import SearchAttributeCheck

log = structlog.get_logger()

BATCH = 100
AT_ONCE = 10
RPC_TIMEOUT = timedelta(seconds=5)


@dataclass(frozen=True, kw_only=True)
class WorkflowKind:
    """A kind of row that has a workflow."""

    workflow: str
    workflow_id: Callable[[str], str]
    state: Callable[[str], Any]
    """The workflow's argument."""
    unstarted: Callable[[Session, int], Sequence[str]]
    mark: Callable[[Session, str], None]
    labels: Callable[[Session, str], WorkflowLabels]
    """The labels of the workflow in Temporal's Web UI."""
    status: str
    """The status that the workflow starts with."""


TRIALS = WorkflowKind(
    workflow="TrialWorkflow",
    workflow_id=trial_workflow_id,
    state=lambda row_id: TrialState(trial=row_id),
    unstarted=unstarted_trials,
    mark=mark_started,
    labels=trial_labels,
    status=TrialStatus.PENDING.value,
)
TOURNAMENTS = WorkflowKind(
    workflow="TournamentWorkflow",
    workflow_id=tournament_workflow_id,
    state=lambda row_id: TournamentState(tournament=row_id),
    unstarted=unstarted_tournaments,
    mark=mark_tournament_started,
    labels=tournament_labels,
    status=TournamentStatus.RUNNING.value,
)

SWEEPS = WorkflowKind(
    workflow="SweepWorkflow",
    workflow_id=sweep_workflow_id,
    state=lambda row_id: SweepState(sweep=row_id),
    unstarted=unstarted_sweeps,
    mark=mark_sweep_started,
    labels=sweep_labels,
    status=SweepStatus.PENDING.value,
)


PROBES = WorkflowKind(
    workflow="ProbeWorkflow",
    workflow_id=probe_workflow_id,
    state=lambda row_id: ProbeState(probe=row_id),
    unstarted=unstarted_probes,
    mark=mark_probe_started,
    labels=probe_labels,
    status=ProbeStatus.PENDING.value,
)


def workflow_id_of(tournament: Tournament) -> str:
    """The id of the tournament's workflow. Temporal names the workflow of a schedule's firing: the `occasion`."""
    if tournament.schedule_id is not None and tournament.occasion is not None:
        return tournament.occasion
    return tournament_workflow_id(tournament.id)


class WorkflowStarter:
    """Starts exactly one workflow for each row, however often it is called."""

    def __init__(
        self, kind: WorkflowKind, sessions: Sessions, temporal: Client, attributes: SearchAttributeCheck | None = None
    ) -> None:
        self._kind = kind
        self._sessions = sessions
        self._temporal = temporal
        self._attributes = attributes or SearchAttributeCheck(temporal)

    async def start(self, row_id: str) -> bool:
        """Start the row's workflow; False where Temporal does not answer, and reconciliation will retry."""
        workflow_id = self._kind.workflow_id(row_id)
        try:
            labels = await run_in_threadpool(self._labels, row_id)
            attributes = labels.search_attributes(self._kind.status)
            await self._attributes.call(attributes, partial(self._send, row_id, labels))
        except WorkflowAlreadyStartedError:
            log.info("the workflow was started before", workflow=workflow_id)
        except (RPCError, RuntimeError) as error:  # the SDK raises RuntimeError where it cannot connect
            log.warning("a workflow could not be started yet", workflow=workflow_id, error=str(error))
            return False
        await run_in_threadpool(self._mark, row_id)
        return True

    async def _send(self, row_id: str, labels: WorkflowLabels, attributes: TypedSearchAttributes) -> None:
        await self._temporal.start_workflow(
            self._kind.workflow,
            self._kind.state(row_id),
            id=self._kind.workflow_id(row_id),
            task_queue=Queue.LEAGUE,
            # a workflow that has ended is not started again
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            memo=labels.memo,
            search_attributes=attributes,
            static_summary=labels.summary,
            rpc_timeout=RPC_TIMEOUT,
        )

    async def reconcile(self) -> int:
        """Start the workflow of every row that is not marked as started; returns how many were started."""
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
            return list(self._kind.unstarted(session, BATCH))

    def _labels(self, row_id: str) -> WorkflowLabels:
        with self._sessions() as session:
            return self._kind.labels(session, row_id)

    def _mark(self, row_id: str) -> None:
        with self._sessions.begin() as session:
            self._kind.mark(session, row_id)
