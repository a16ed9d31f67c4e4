"""Starting tournaments and keeping schedules: rows first, Temporal follows, and what a crash left is made up for."""

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

from api.service.schedules import ScheduleBook
from api.store.models import Tournament
from api.store.queries.tournaments import mark_tournament_started, unstarted_tournaments
from api.store.schedules import follow_trial_files, untaken_schedules
from orchestrator.contracts.queues import Queue
from orchestrator.contracts.tournaments import TournamentState, tournament_workflow_id

log = structlog.get_logger()

BATCH = 100
RPC_TIMEOUT = timedelta(seconds=5)


def workflow_id_of(tournament: Tournament) -> str:
    """The id of the workflow that holds it: a schedule's firing is named by Temporal, and is the occasion."""
    if tournament.schedule_id is not None and tournament.occasion is not None:
        return tournament.occasion
    return tournament_workflow_id(tournament.id)


class TournamentKeeper:
    """Gives each recorded tournament exactly one workflow, and each schedule its place at Temporal."""

    def __init__(self, sessions: sessionmaker[Session], temporal: Client, *, every: float) -> None:
        self._sessions = sessions
        self._temporal = temporal
        self._every = every
        self.schedules = ScheduleBook(sessions, temporal)

    async def start(self, tournament_id: str) -> bool:
        """Start the tournament's workflow; False where Temporal does not answer, and reconciliation will see to it."""
        try:
            await self._temporal.start_workflow(
                "TournamentWorkflow",
                TournamentState(tournament=tournament_id),
                id=tournament_workflow_id(tournament_id),
                task_queue=Queue.LEAGUE,
                # a tournament is held once: one that has ended is not held again
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                rpc_timeout=RPC_TIMEOUT,
            )
        except WorkflowAlreadyStartedError:
            log.info("the tournament's workflow was there already", tournament=tournament_id)
        except (RPCError, RuntimeError) as error:  # RuntimeError is how the SDK says it cannot connect
            log.warning("a tournament could not be started yet", tournament=tournament_id, error=str(error))
            return False
        await run_in_threadpool(self._mark, tournament_id)
        return True

    async def reconcile(self) -> int:
        """Start and take what waits for it; returns how much was done."""
        tournaments, schedules = await run_in_threadpool(self._waiting)
        done = [await self.start(tournament) for tournament in tournaments]
        done += [await self.schedules.take(schedule) for schedule in schedules]
        return sum(done)

    async def run(self) -> None:
        """Reconcile now and from time to time, until cancelled."""
        while True:
            try:
                if done := await self.reconcile():
                    log.info("tournaments and schedules were brought to Temporal", count=done)
            except Exception as error:  # a database that is away comes back; this task must outlive it
                log.warning("reconciliation failed and is tried again", error=type(error).__name__)
            await asyncio.sleep(self._every)

    def _waiting(self) -> tuple[list[str], list[str]]:
        with self._sessions.begin() as session:
            follow_trial_files(session)
        with self._sessions() as session:
            return list(unstarted_tournaments(session, BATCH)), list(untaken_schedules(session, BATCH))

    def _mark(self, tournament_id: str) -> None:
        with self._sessions.begin() as session:
            mark_tournament_started(session, tournament_id)
