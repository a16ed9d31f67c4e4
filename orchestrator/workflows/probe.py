"""One probe: responders train against a frozen version, each in a trial of its own, then meet it in fresh games.

Its state is in the store: each plan is made from rows alone, so a run can end at any moment. See
docs/guides/probes.md.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.probes import ProbePlan, ProbeState, ProbeStep, advance_probe
    from orchestrator.contracts.workflow_labels import summary_line
    from orchestrator.contracts.workflows import Mode, StopOrder
    from orchestrator.workflows.new_runs import new_run_is_due
    from orchestrator.workflows.own_labels import show_status
    from orchestrator.workflows.retries import error_text
    from orchestrator.workflows.signals import cancel_tournament, order_trial, start_tournament, start_trial

STEPS_PER_RUN = 100
"""Bounds a run's history: a step takes about ten events."""
INTERVAL = timedelta(seconds=5)
"""How often the store is asked whether the responders or their games are done."""
CANCELLED = "its workflow was cancelled"


@workflow.defn
class ProbeWorkflow:
    """Runs one probe to its end. Trials and the tournament are children that outlive a run."""

    @workflow.init
    def __init__(self, state: ProbeState) -> None:
        self._state = state

    @workflow.run
    async def run(self, state: ProbeState) -> str:
        steps = 0
        while True:
            try:
                reason = CANCELLED if state.cancelled else ""
                plan = await advance_probe(ProbeStep(probe=state.probe, stop_reason=reason, failure=state.failure))
                await self._carry_out(plan)
                if plan.over:
                    break
                steps += 1
                await workflow.sleep(INTERVAL, summary=summary_line("until the responders are looked at again"))
            except (ActivityError, asyncio.CancelledError) as error:
                cancelled = is_cancelled_exception(error)
                if not cancelled and state.failure:
                    raise  # the store refuses even its end
                state.cancelled = state.cancelled or cancelled  # the next plans stop every trial
                state.failure = state.failure if cancelled else error_text(error)
                continue
            if new_run_is_due(steps >= STEPS_PER_RUN):
                workflow.continue_as_new(state)
        show_status(plan.status)
        return plan.status

    async def _carry_out(self, plan: ProbePlan) -> None:
        for new in plan.trials:
            await start_trial(new.trial, name=new.name)
        for order in plan.orders:
            await order_trial(order.trial, StopOrder(mode=Mode(order.mode), reason=order.reason))
        if plan.tournament is not None:
            await start_tournament(plan.tournament, name="the games of a probe")
        if plan.cancel_tournament is not None:
            await cancel_tournament(plan.cancel_tournament, "its probe was stopped")
