"""Reconciliation, every few seconds: starts what the rows say should run, and deletes what has expired.

See docs/decisions/trials.md.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import structlog
from starlette.concurrency import run_in_threadpool

from api.store.access.browser_sessions import delete_expired_sessions
from api.store.core.idempotency import delete_keys
from api.store.matches.people_games import delete_expired_people_games
from api.store.tournaments.schedules import live_schedules, sync_trial_schedules, unsynced_schedules
from api.web.services import Services
from api.web.temporal.lost_workflows import LostWorkflows

log = structlog.get_logger()

BATCH = 100


class Reconciler:
    """Gives every trial, tournament, sweep and probe its workflow, and every schedule its Temporal Schedule."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lost = LostWorkflows(services.sessions, services.temporal)

    async def run(self) -> None:
        """Reconcile until cancelled."""
        sealed = False
        while True:
            try:
                sealed = sealed or await self.seal_schedules()
                if done := await self.reconcile():
                    log.info("reconciled with Temporal", count=done)
                await run_in_threadpool(self._delete_expired)
            except Exception as error:  # the task must outlive an outage of the database
                log.warning("reconciliation failed and will be retried", error=type(error).__name__)
            await asyncio.sleep(self._services.settings.reconcile_seconds)

    async def reconcile(self) -> int:
        """Start every unstarted workflow and apply every changed schedule; returns how many."""
        services = self._services
        starters = (services.trial_starter, services.tournament_starter, services.sweep_starter, services.probe_starter)
        started = sum([await starter.reconcile() for starter in starters])
        started += await self._lost.restart()
        schedules = await run_in_threadpool(self._changed_schedules)
        return started + sum([await services.schedules.apply(schedule) for schedule in schedules])

    async def seal_schedules(self) -> bool:
        """Apply every schedule once more; False where Temporal does not answer.

        Temporal keeps the start of a schedule as it was sealed: with an older key, or not at all.
        """
        schedules = await run_in_threadpool(self._live_schedules)
        return all([await self._services.schedules.apply(schedule) for schedule in schedules])

    def _live_schedules(self) -> list[str]:
        with self._services.sessions() as session:
            return list(live_schedules(session))

    def _changed_schedules(self) -> list[str]:
        with self._services.sessions.begin() as session:
            sync_trial_schedules(session)
        with self._services.sessions() as session:
            return list(unsynced_schedules(session, BATCH))

    def _delete_expired(self) -> None:
        with self._services.sessions.begin() as session:
            delete_keys(session, timedelta(hours=self._services.settings.idempotency_hours))
            delete_expired_people_games(session)
            delete_expired_sessions(session)
