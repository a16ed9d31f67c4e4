"""Starting trials: the row is committed first, the workflow follows, and what a crash left between is made up for."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import structlog
from sqlalchemy.orm import Session, sessionmaker
from starlette.concurrency import run_in_threadpool
from temporalio.client import Client
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from api.store.answers import forget_answers
from api.store.queries.trials import mark_started, unstarted_trials
from orchestrator.contracts.queues import Queue
from orchestrator.contracts.workflows import TrialState, trial_workflow_id

log = structlog.get_logger()

BATCH = 100
AT_ONCE = 10
RPC_TIMEOUT = timedelta(seconds=5)


class TrialStarter:
    """Gives each recorded trial exactly one workflow, however often it is asked to."""

    def __init__(
        self, sessions: sessionmaker[Session], temporal: Client, *, every: float, keep_answers: timedelta
    ) -> None:
        self._sessions = sessions
        self._temporal = temporal
        self._every = every
        self._keep_answers = keep_answers

    async def start(self, trial_id: str) -> bool:
        """Start the trial's workflow; False where Temporal does not answer, and reconciliation will see to it."""
        try:
            await self._temporal.start_workflow(
                "TrialWorkflow",
                TrialState(trial=trial_id),
                id=trial_workflow_id(trial_id),
                task_queue=Queue.LEAGUE,
                # a trial lives once: one that has ended is not started again
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                rpc_timeout=RPC_TIMEOUT,
            )
        except WorkflowAlreadyStartedError:
            log.info("the trial's workflow was there already", trial=trial_id)
        except (RPCError, RuntimeError) as error:  # RuntimeError is how the SDK says it cannot connect
            log.warning("a trial's workflow could not be started yet", trial=trial_id, error=str(error))
            return False
        await run_in_threadpool(self._mark, trial_id)
        return True

    async def reconcile(self) -> int:
        """Start every trial that has no confirmed workflow; returns how many were started."""
        started = 0
        slots = asyncio.Semaphore(AT_ONCE)

        async def one(trial_id: str) -> bool:
            async with slots:
                return await self.start(trial_id)

        while waiting := await run_in_threadpool(self._unstarted):
            results = await asyncio.gather(*(one(trial_id) for trial_id in waiting))
            started += sum(results)
            if not all(results) or len(waiting) < BATCH:
                break
        return started

    async def run(self) -> None:
        """Reconcile now and from time to time, until cancelled."""
        while True:
            try:
                if started := await self.reconcile():
                    log.info("trials without a workflow were started", trials=started)
                await run_in_threadpool(self._forget)
            except Exception as error:  # a database that is away comes back; this task must outlive it
                log.warning("reconciliation failed and is tried again", error=type(error).__name__)
            await asyncio.sleep(self._every)

    def _unstarted(self) -> list[str]:
        with self._sessions() as session:
            return list(unstarted_trials(session, BATCH))

    def _mark(self, trial_id: str) -> None:
        with self._sessions.begin() as session:
            mark_started(session, trial_id)

    def _forget(self) -> None:
        with self._sessions.begin() as session:
            forget_answers(session, self._keep_answers)
