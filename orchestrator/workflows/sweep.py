"""One sweep: starts trials as children, and carries out what the store decides from their values.

Its state is in the store: each plan is made from rows alone, so a run can end at any moment, and a plan that is carried
out twice has no further effect. See docs/decisions/sweeps.md.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.sweeps import (
        SweepChange,
        SweepEnd,
        SweepPlan,
        SweepReport,
        SweepState,
        SweepStep,
        advance_sweep,
        change_sweep,
        end_sweep,
    )
    from orchestrator.contracts.workflow_labels import summary_line
    from orchestrator.contracts.workflows import Mode, StopOrder
    from orchestrator.workflows.new_runs import new_run_is_due
    from orchestrator.workflows.own_labels import show_status
    from orchestrator.workflows.retries import error_text
    from orchestrator.workflows.signals import order_trial, start_trial

STEPS_PER_RUN = 100
"""Bounds a run's history: a step takes about eight events, and a trial that it starts or orders three more."""
QUIET = timedelta(seconds=30)
"""The store is asked again after this time, even if no trial reported: a trial may have been stopped by its row."""

CANCELLED = "its workflow was cancelled"


@workflow.defn
class SweepWorkflow:
    """Runs one sweep to its end. Trials are children that outlive a run, so that the sweep can continue as new."""

    @workflow.init
    def __init__(self, state: SweepState) -> None:
        self._state = state
        self._changed = False
        self._done = False

    @workflow.run
    async def run(self, state: SweepState) -> str:
        steps = 0
        while True:
            self._changed = False
            try:
                plan = await advance_sweep(SweepStep(sweep=state.sweep, crews=state.crews))
                await self._carry_out(plan)
                if plan.over:
                    break
                steps += 1
                await self._wait()
                quiet = workflow.all_handlers_finished()
            except (ActivityError, asyncio.CancelledError) as error:
                cancelled = is_cancelled_exception(error)
                if state.failure and not cancelled:
                    break  # the trials cannot be stopped either
                state.failure = state.failure if cancelled else error_text(error)
                await self._stop_trials(state.failure or CANCELLED)
                continue
            if quiet and new_run_is_due(steps >= STEPS_PER_RUN):
                workflow.continue_as_new(state)
        self._done = True
        ended = await end_sweep(SweepEnd(sweep=state.sweep, failure=state.failure))
        show_status(ended.status)
        await workflow.wait_condition(workflow.all_handlers_finished)
        return ended.status

    async def _carry_out(self, plan: SweepPlan) -> None:
        for new in plan.start:
            await start_trial(new.trial, name=new.name)
        for order in plan.orders:
            await order_trial(order.trial, StopOrder(mode=Mode(order.mode), reason=order.reason))

    async def _wait(self) -> None:
        try:
            await workflow.wait_condition(
                lambda: self._changed,
                timeout=QUIET,
                timeout_summary=summary_line("until the trials are looked at again"),
            )
        except TimeoutError:
            return

    async def _stop_trials(self, reason: str) -> None:
        """After a cancellation, or a plan that can never be made: the next plans stop every trial."""
        await change_sweep(SweepChange(sweep=self._state.sweep, status="stopping", reason=reason))

    # -- messages ----------------------------------------------------------------------------------------------------

    @workflow.signal
    def report(self, report: SweepReport) -> None:
        """A trial recorded a generation, or ended."""
        self._state.crews = report.crews or self._state.crews
        self._changed = True

    @workflow.update
    async def pause(self) -> str:
        """Pause every trial, and start no further one."""
        return await self._change("paused", "paused by an operator")

    @workflow.update
    async def resume(self) -> str:
        """Continue after a pause."""
        return await self._change("running", "")

    @workflow.update
    async def stop(self, order: StopOrder) -> str:
        """Stop every trial, and end."""
        return await self._change("stopping", order.reason)

    @pause.validator
    def _may_pause(self) -> None:
        self._require_running()

    @resume.validator
    def _may_resume(self) -> None:
        self._require_running()

    @stop.validator
    def _may_stop(self, order: StopOrder) -> None:
        self._require_running()

    def _require_running(self) -> None:
        if self._done:
            raise ApplicationError("the sweep has ended", type="conflict", non_retryable=True)

    async def _change(self, status: str, reason: str) -> str:
        update = workflow.current_update_info()
        await change_sweep(
            SweepChange(
                sweep=self._state.sweep, status=status, reason=reason, order=None if update is None else update.id
            )
        )
        show_status(status)
        self._changed = True
        return status
