"""Starts workflows again that ended without a word: terminated or cancelled by hand, timed out, or lost by Temporal.

A row that is not over has a running workflow. See docs/decisions/trials.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import structlog
from starlette.concurrency import run_in_threadpool
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from api.schemas.events import WorkflowRestarted
from api.store.core.engine import Sessions
from api.store.core.events import NewEvent, append_once
from api.store.trials.expected_workflows import ExpectedWorkflow, expected_workflows, state_to_continue
from api.web.temporal.start_workflows import RPC_TIMEOUT
from orchestrator.contracts.probes import ProbeState
from orchestrator.contracts.queues import Queue
from orchestrator.contracts.sweeps import SweepState
from orchestrator.contracts.tournaments import TournamentState
from orchestrator.contracts.workflows import GateState, Report, ReportKind, trial_workflow_id

log = structlog.get_logger()

LOST = {
    WorkflowExecutionStatus.TERMINATED: "terminated",
    WorkflowExecutionStatus.CANCELED: "cancelled",
    WorkflowExecutionStatus.TIMED_OUT: "timed out",
    WorkflowExecutionStatus.FAILED: "failed",
}
"""Ends that no row knows of. A workflow that completed has recorded its end, or is about to."""
NOT_FOUND = "not known to Temporal"
_TYPES = {
    "gate": "GateWorkflow",
    "tournament": "TournamentWorkflow",
    "sweep": "SweepWorkflow",
    "probe": "ProbeWorkflow",
}


@dataclass(frozen=True, kw_only=True)
class _Ending:
    """How a workflow ended, and which run of it."""

    how: str
    run_id: str


class LostWorkflows:
    """Compares the rows with Temporal, and starts again what is missing there."""

    def __init__(self, sessions: Sessions, temporal: Client) -> None:
        self._sessions = sessions
        self._temporal = temporal
        self._not_found: set[str] = set()
        """Workflows that Temporal did not know at the last check. Their start may be on its way, so it is checked
        once more.
        """

    async def restart(self) -> int:
        """Start every lost workflow again; returns how many."""
        expected = await run_in_threadpool(self._expected)
        if not expected:
            return 0
        running = {each.id async for each in self._temporal.list_workflows('ExecutionStatus = "Running"')}
        missing = [each for each in expected if each.workflow_id not in running]
        endings = {each.workflow_id: await self._ending(each.workflow_id) for each in missing}
        unknown = {name for name, ending in endings.items() if ending is not None and ending.how == NOT_FOUND}
        lost_trials: set[str | None] = set()
        restarted = 0
        for each in missing:
            ending = endings[each.workflow_id]
            if ending is None or (ending.how == NOT_FOUND and each.workflow_id not in self._not_found):
                continue
            if each.kind == "trial":
                lost_trials.add(each.trial_id)
            if each.kind == "player" and each.trial_id in lost_trials:
                continue  # the trial's new workflow looks after its players
            await self._restart(each, ending)
            restarted += 1
        self._not_found = unknown
        return restarted

    async def _ending(self, workflow_id: str) -> _Ending | None:
        """How a workflow was lost; None if it was not: the list of running ones may be some seconds old."""
        try:
            found = await self._temporal.get_workflow_handle(workflow_id).describe(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return _Ending(how=NOT_FOUND, run_id="")
        how = None if found.status is None else LOST.get(found.status)
        return None if how is None else _Ending(how=how, run_id=found.run_id)

    async def _restart(self, lost: ExpectedWorkflow, ending: _Ending) -> None:
        log.warning("a workflow was lost and starts again", workflow=lost.workflow_id, how=ending.how)
        if lost.kind == "player":
            assert lost.trial_id is not None, "players belong to trials"
            report = Report(
                happening=ReportKind.LOST, sender=lost.row_id, generation=lost.generation, detail=ending.how
            )
            await self._temporal.get_workflow_handle(trial_workflow_id(lost.trial_id)).signal(
                "report", report, rpc_timeout=RPC_TIMEOUT
            )
        else:
            await self._start(lost)
        await run_in_threadpool(self._note, lost, ending)

    async def _start(self, lost: ExpectedWorkflow) -> None:
        try:
            await self._temporal.start_workflow(
                _TYPES.get(lost.kind, "TrialWorkflow"),
                await run_in_threadpool(self._state, lost),
                id=lost.workflow_id,
                task_queue=Queue.LEAGUE,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                static_summary=f"{lost.kind} {lost.name}",
                rpc_timeout=RPC_TIMEOUT,
            )
        except WorkflowAlreadyStartedError:
            log.info("another process started the workflow again", workflow=lost.workflow_id)

    def _state(self, lost: ExpectedWorkflow) -> object:
        if lost.kind == "gate":
            return GateState(gate=lost.row_id, trial=lost.trial_id or "")
        if lost.kind == "tournament":
            return TournamentState(tournament=lost.row_id)
        if lost.kind == "probe":
            return ProbeState(probe=lost.row_id)
        if lost.kind == "sweep":
            return SweepState(sweep=lost.row_id)
        with self._sessions() as session:
            return state_to_continue(session, lost.row_id)

    def _expected(self) -> list[ExpectedWorkflow]:
        with self._sessions() as session:
            return expected_workflows(session)

    def _note(self, lost: ExpectedWorkflow, ending: _Ending) -> None:
        payload = WorkflowRestarted(what=lost.kind, name=lost.name, how=ending.how)
        with self._sessions.begin() as session:
            append_once(
                session, NewEvent(trial_id=lost.trial_id, payload=payload), f"{lost.workflow_id}:{ending.run_id}"
            )
