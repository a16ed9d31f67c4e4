"""A sweep's activities in memory: one trial, which is paused at a rung, resumed, and stopped early at the next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from temporalio import activity
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError

from orchestrator.contracts import sweeps
from orchestrator.contracts.workflows import Mode, Status
from tests.integration.workflows.fake_league import FakeLeague

FINAL = (Status.STOPPED, Status.COMPLETED, Status.FAILED)


@dataclass
class FakeSweep:
    """Plans from what its trial did, as the store does."""

    trial: str = "first"
    stops_early: bool = True
    league: FakeLeague = field(init=False)
    asked: list[sweeps.SweepStep] = field(default_factory=list)
    orders: list[str] = field(default_factory=list)
    changes: list[sweeps.SweepChange] = field(default_factory=list)
    ended: list[sweeps.SweepEnd] = field(default_factory=list)
    status: str = "running"
    sweep: str = "swept"

    def __post_init__(self) -> None:
        self.league = FakeLeague(trial=self.trial, sweep=self.sweep, rungs=[20, 50], generation_seconds=0.05)

    def activities(self) -> list[Callable[..., Any]]:
        return [self.advance_sweep, self.change_sweep, self.end_sweep]

    @activity.defn(name=sweeps.advance_sweep.name)
    async def advance_sweep(self, step: sweeps.SweepStep) -> sweeps.SweepPlan:
        self.asked.append(step)
        last = self.league.statuses[-1][0] if self.league.statuses else Status.PENDING
        if last in FINAL:
            return sweeps.SweepPlan(over=True)
        if not self.league.calls["begin_trial"]:
            return sweeps.SweepPlan(start=[sweeps.TrialToStart(trial=self.trial, name="first")])
        order = self._order(last)
        if order is None:
            return sweeps.SweepPlan()
        self.orders.append(order)
        return sweeps.SweepPlan(
            orders=[sweeps.TrialOrder(trial=self.trial, mode=order, reason=f"{order} by its sweep")]
        )

    def _order(self, last: str) -> str | None:
        if self.status == "stopping" or (self.stops_early and self.league.steps >= 50):
            return Mode.NOW
        if last == Status.PAUSED:
            return Mode.RUN
        if self.stops_early and self.league.steps >= 20 and Mode.PAUSE not in self.orders and last == Status.RUNNING:
            return Mode.PAUSE
        return None

    @activity.defn(name=sweeps.change_sweep.name)
    async def change_sweep(self, change: sweeps.SweepChange) -> None:
        self.changes.append(change)
        self.status = change.status

    @activity.defn(name=sweeps.end_sweep.name)
    async def end_sweep(self, end: sweeps.SweepEnd) -> sweeps.SweepEnded:
        self.ended.append(end)
        return sweeps.SweepEnded(status="stopped" if self.status == "stopping" else "completed")

    async def drive(self, handle: WorkflowHandle[Any, Any]) -> None:
        """Pause and resume the sweep, and wake it up until it has ended its trial."""
        await handle.execute_update("pause")
        await handle.execute_update("resume")
        while not self.ended:
            # its trial tells it of rungs; a paused trial tells nothing, and the sweep would look again after a while
            with suppress(RPCError):  # it has just ended
                await handle.signal("report", sweeps.SweepReport(trial=self.trial))
            await asyncio.sleep(0.2)
