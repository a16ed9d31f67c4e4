"""One trial: starts its players, enforces its budget, and carries out people's orders."""

from __future__ import annotations

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.sweeps import SweepReport
    from orchestrator.contracts.trials import TrialRequest, begin_trial
    from orchestrator.contracts.workflow_labels import summary_line
    from orchestrator.contracts.workflows import LiveStatus, Mode, Report, ReportKind, Status, TrialState
    from orchestrator.workflows.new_runs import new_run_is_due
    from orchestrator.workflows.retries import RetriesExhausted, error_text
    from orchestrator.workflows.signals import report_to_sweep
    from orchestrator.workflows.trial_end import collect_trial_garbage, stop_evaluations, stop_gates
    from orchestrator.workflows.trial_orders import PLAYERS_AT_ONCE, TrialOrders
    from orchestrator.workflows.trial_start import create_first_versions
    from orchestrator.workflows.wall_clock import WallClock

REPORTS_PER_RUN = 250
"""Reports after which the workflow continues as new, to keep its history near a thousand events."""


@workflow.defn
class TrialWorkflow(TrialOrders):
    """Runs a trial: pending, running, pausing, paused, stopping, then stopped, completed or failed."""

    @workflow.init
    def __init__(self, state: TrialState) -> None:
        super().__init__(state)
        self._clock = WallClock(state)
        self._reports: list[Report] = []
        self._reports_taken = 0

    @workflow.run
    async def run(self, state: TrialState) -> Status:
        try:
            await self._run_until_over()
        except (ActivityError, RetriesExhausted) as error:
            if not self._withdrawn:
                state.final, state.reason, state.mode = Status.FAILED, error_text(error), Mode.NOW
            await self._send_mode_to_players()
        await self._conclude()
        return state.status

    # -- the main loop ------------------------------------------------------------------------------------------

    async def _run_until_over(self) -> None:
        state = self._state
        if state.brief is None:
            await self._begin()
            if state.launched:  # this workflow takes the place of one that was lost
                await self._adopt_players()
            if self._budget_is_used_up() and workflow.patched("budget-before-launch"):  # steps that a fork inherited
                await self._keep_budget()
        elif state.status is Status.PAUSING and workflow.patched("pause-in-a-new-run"):
            await self._follow_orders()  # the previous run may have ended before this, and no report may come
        while not self._is_over():
            if state.mode is Mode.RUN and not state.launched:
                await self._launch()
            await self._wait_for_changes()
            while self._reports:
                await self._take(self._reports.pop(0))
            await self._follow_orders()
            await self._keep_budget()
            quiet = workflow.all_handlers_finished() and not self._reports and not self._changed
            if quiet and new_run_is_due(self._reports_taken >= REPORTS_PER_RUN):
                self._clock.stop()
                workflow.continue_as_new(state)

    def _is_over(self) -> bool:
        state = self._state
        if state.mode is not Mode.NOW and state.mode is not Mode.DRAIN:
            return False
        return all(player.ended for player in state.seats.values()) and not state.gates

    async def _wait_for_changes(self) -> None:
        self._clock.start()
        try:
            await workflow.wait_condition(
                lambda: bool(self._reports) or self._changed or self._is_over(),
                timeout=self._clock.left(self._brief.wall_clock_seconds),
                timeout_summary=summary_line("the wall-clock budget"),
            )
        except TimeoutError:
            await self._finish(Status.COMPLETED, "the wall-clock budget is used up")
        self._changed = False

    async def _take(self, report: Report) -> None:
        """Act on one report of a player or a gate."""
        state = self._state
        self._reports_taken += 1
        player = state.seats.get(report.sender)
        if player is not None:
            player.generation = max(player.generation, report.generation)
            player.idle = report.happening is ReportKind.IDLE
            player.ended = player.ended or report.happening in (ReportKind.ENDED, ReportKind.FAILED)
        before, state.steps = state.steps, max(state.steps, report.trial_steps)
        match report.happening:
            case ReportKind.FAILED:
                await self._finish(Status.FAILED, report.detail)
            case ReportKind.TARGET_REACHED:
                await self._finish(Status.COMPLETED, f"target reached: {report.detail}")
            case ReportKind.RECORDED:
                self._expect_gate(report.next_gate)
                await self._report_progress(before, report.crews)
            case ReportKind.GATE_OPENED:
                self._expect_gate(report.sender)
                if state.mode is Mode.NOW:  # it started after the others were stopped
                    await self._stop_gate(report.sender, state.reason)
            case ReportKind.LOST if player is not None:
                await self._restart(player)
            case ReportKind.GATE_ENDED:
                state.gates = [gate for gate in state.gates if gate != report.sender]
                self._expect_gate(report.next_gate)

    async def _report_progress(self, before: int, crews: int) -> None:
        """Tell the trial's sweep that it reached a rung, or how many crews there are; nothing without a sweep."""
        brief, state = self._brief, self._state
        reached = any(before < rung <= state.steps for rung in brief.rungs)
        if brief.sweep and (reached or crews != state.crews):
            await report_to_sweep(brief.sweep, SweepReport(trial=state.trial, steps=state.steps, crews=crews))
        state.crews = crews

    def _expect_gate(self, gate: str | None) -> None:
        if gate and gate not in self._state.gates:
            self._state.gates.append(gate)

    async def _follow_orders(self) -> None:
        """Set the status once every player has paused or ended."""
        state = self._state
        pausing = state.status is Status.PAUSING and state.mode is Mode.PAUSE
        if pausing and all(player.idle or player.ended for player in state.seats.values()):
            self._clock.stop()
            await self._move(Status.PAUSED, state.reason)
        if all(player.ended for player in state.seats.values()) and state.launched and not state.mode.ends:
            await self._finish(Status.COMPLETED, "no learning player is left")

    def _budget_is_used_up(self) -> bool:
        budget = self._brief.budget_steps
        return budget is not None and self._state.steps >= budget and not self._state.mode.ends

    async def _keep_budget(self) -> None:
        if self._budget_is_used_up():
            await self._finish(Status.COMPLETED, f"the budget of {self._brief.budget_steps:,} steps is used up")

    async def _finish(self, final: Status, reason: str) -> None:
        """Let running generations end, then conclude; the first reason to finish counts."""
        if self._state.mode.ends:
            return
        self._state.final, self._state.mode = final, Mode.DRAIN
        await self._move(Status.STOPPING, reason)
        await self._send_mode_to_players()

    async def _conclude(self) -> None:
        self._clock.stop()
        await workflow.wait_condition(workflow.all_handlers_finished)
        launched = self._state.launched
        # garbage collection may take minutes; the final status is shown before it
        garbage_last = launched and workflow.patched("status-before-garbage")
        if launched:
            if workflow.patched("end-gates"):
                await stop_gates(self._state)
            if self._ends_evaluations():
                await stop_evaluations(self._state)
            if not garbage_last:
                await collect_trial_garbage(self._state)
        await self._move(self._state.final or Status.STOPPED, self._state.reason)
        if self._state.brief is not None and self._state.brief.sweep:
            ended = SweepReport(trial=self._state.trial, steps=self._state.steps, ended=True)
            await report_to_sweep(self._state.brief.sweep, ended)
        if garbage_last:
            await collect_trial_garbage(self._state)

    def _ends_evaluations(self) -> bool:
        """False in the oldest histories. Before the patch existed, a brief with `over` marked those that did."""
        return workflow.patched("end-evaluations") or self._brief.over is not None

    # -- start ---------------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        state = self._state
        state.brief = await begin_trial(TrialRequest(trial=state.trial))
        state.steps = state.brief.steps
        if state.brief.over:
            self.withdraw(state.reason)
        elif state.brief.start_paused and not state.mode.ends and not state.launched:
            # set first: an order that arrives while the status is recorded must not be overwritten
            state.mode = Mode.PAUSE
            await self._move(Status.PAUSED, "waits for `resume`, as its file says")

    async def _launch(self) -> None:
        """Create the first weights and versions, and start the workflow of each learning player."""
        brief, state = self._brief, self._state
        self._launching = asyncio.create_task(
            create_first_versions(brief, should_stop=lambda: state.mode.ends, tries=state.tries)
        )
        try:
            await self._launching
        except (RetriesExhausted, ActivityError, asyncio.CancelledError) as error:
            if state.mode.ends:
                return
            if isinstance(error, RetriesExhausted) and not error.final:
                state.tries = error.last.tries
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(state)
            raise
        finally:
            self._launching = None
        # a trial that started paused is running already, or paused or stopped again
        if state.status is Status.PENDING and not state.mode.ends:
            await self._move(Status.RUNNING)
        if state.mode.ends:
            return
        state.launched = True
        # one after another took minutes in leagues of hundreds, while the trial answered no order
        together = len(brief.learners) > 1 and workflow.patched("players-together")
        at_once = PLAYERS_AT_ONCE if together else 1
        for first in range(0, len(brief.learners), at_once):
            await asyncio.gather(*map(self._start, brief.learners[first : first + at_once]))

    # -- messages ---------------------------------------------------------------------------------------------------

    @workflow.signal
    def report(self, report: Report) -> None:
        """A report of a player or a gate."""
        self._reports.append(report)

    @workflow.query
    def live(self) -> LiveStatus:
        """The trial's state at this moment."""
        state = self._state
        return LiveStatus(
            status=state.status,
            reason=state.reason,
            steps=state.steps,
            seconds=self._clock.seconds,
            players={player.learner.name: player.generation for player in state.seats.values()},
            gates=list(state.gates),
        )
