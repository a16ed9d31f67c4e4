"""Bringing Temporal to agree with the rows, now and from time to time, and forgetting what is too old."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import structlog
from starlette.concurrency import run_in_threadpool

from api.store.core.idempotency import delete_keys
from api.store.matches.people_games import forget_people_games
from api.store.tournaments.schedules import follow_trial_files, untaken_schedules
from api.web.services import Services

log = structlog.get_logger()

BATCH = 100


class Reconciler:
    """Gives every recorded trial, tournament and schedule its place at Temporal."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def run(self) -> None:
        """Reconcile until cancelled."""
        while True:
            try:
                if done := await self.reconcile():
                    log.info("what waited for Temporal was brought to it", count=done)
                await run_in_threadpool(self._forget)
            except Exception as error:  # a database that is away comes back; this task must outlive it
                log.warning("reconciliation failed and is tried again", error=type(error).__name__)
            await asyncio.sleep(self._services.settings.reconcile_seconds)

    async def reconcile(self) -> int:
        """Start and take what waits for it; returns how much was done."""
        services = self._services
        started = await services.starter.reconcile() + await services.tournament_starter.reconcile()
        schedules = await run_in_threadpool(self._untaken)
        return started + sum([await services.schedules.take(schedule) for schedule in schedules])

    def _untaken(self) -> list[str]:
        with self._services.sessions.begin() as session:
            follow_trial_files(session)
        with self._services.sessions() as session:
            return list(untaken_schedules(session, BATCH))

    def _forget(self) -> None:
        with self._services.sessions.begin() as session:
            delete_keys(session, timedelta(hours=self._services.settings.idempotency_hours))
            forget_people_games(session)
