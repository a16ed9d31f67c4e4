"""One trial: starts its players, keeps its budget, and takes orders from people."""

from __future__ import annotations

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.trials import TrialRequest, begin_trial
    from orchestrator.contracts.workflows import Happening, LiveStatus, Mode, Report, Status, TrialState
    from orchestrator.workflows.retries import GivenUp, words_of
    from orchestrator.workflows.trial_end import give_up_evaluations, give_up_gates, leave_no_garbage
    from orchestrator.workflows.trial_orders import TrialOrders
    from orchestrator.workflows.trial_start import enter
    from orchestrator.workflows.wall_clock import WallClock

REPORTS_A_RUN = 250
"""Reports after which a new run begins, so that a history stays near a thousand events."""


@workflow.defn
class TrialWorkflow(TrialOrders):
    """The trial's life: pending, running, pausing, paused, stopping, then stopped, completed or failed."""

    @workflow.init
    def __init__(self, state: TrialState) -> None:
        super().__init__(state)
        self._clock = WallClock(state)
        self._reports: list[Report] = []
        self._reports_taken = 0

    @workflow.run
    async def run(self, state: TrialState) -> Status:
        try:
            await self._live()
        except (ActivityError, GivenUp) as error:
            if not self._withdrawn:
                state.final, state.reason, state.mode = Status.FAILED, words_of(error), Mode.NOW
            await self._tell_players()
        await self._conclude()
        return state.status

    # -- the main loop ------------------------------------------------------------------------------------------

    async def _live(self) -> None:
        state = self._state
        if state.brief is None:
            await self._begin()
            if self._budget_is_used_up() and workflow.patched("budget-before-launch"):  # a fork's, by its origin
                await self._keep_budget()
        elif state.status is Status.PAUSING and workflow.patched("pause-in-a-new-run"):
            await self._follow_orders()  # the run before may have ended before it looked, with nobody to report
        while not self._is_over():
            if state.mode is Mode.RUN and not state.launched:
                await self._launch()
            await self._wait_for_news()
            while self._reports:
                await self._take(self._reports.pop(0))
            await self._follow_orders()
            await self._keep_budget()
            quiet = workflow.all_handlers_finished() and not self._reports and not self._changed
            if self._reports_taken >= REPORTS_A_RUN and quiet:
                self._clock.stop()
                workflow.continue_as_new(state)

    def _is_over(self) -> bool:
        state = self._state
        if state.mode is not Mode.NOW and state.mode is not Mode.DRAIN:
            return False
        return all(seat.ended for seat in state.seats.values()) and not state.gates

    async def _wait_for_news(self) -> None:
        self._clock.start()
        try:
            await workflow.wait_condition(
                lambda: bool(self._reports) or self._changed or self._is_over(),
                timeout=self._clock.left(self._brief.wall_clock_seconds),
            )
        except TimeoutError:
            await self._finish(Status.COMPLETED, "the wall-clock budget is used up")
        self._changed = False

    async def _take(self, report: Report) -> None:
        """Act on one line from a player or a gate."""
        state = self._state
        self._reports_taken += 1
        seat = state.seats.get(report.sender)
        if seat is not None:
            seat.generation = max(seat.generation, report.generation)
            seat.idle = report.happening is Happening.IDLE
            seat.ended = seat.ended or report.happening in (Happening.ENDED, Happening.FAILED)
        state.steps = max(state.steps, report.trial_steps)
        match report.happening:
            case Happening.FAILED:
                await self._finish(Status.FAILED, report.detail)
            case Happening.TARGET_REACHED:
                await self._finish(Status.COMPLETED, f"target reached: {report.detail}")
            case Happening.RECORDED:
                self._expect_gate(report.next_gate)
            case Happening.GATE_OPENED:
                self._expect_gate(report.sender)
                if state.mode is Mode.NOW:  # it was not there yet when the others were told
                    await self._stop_gate(report.sender, state.reason)
            case Happening.GATE_ENDED:
                state.gates = [gate for gate in state.gates if gate != report.sender]
                self._expect_gate(report.next_gate)

    def _expect_gate(self, gate: str | None) -> None:
        if gate and gate not in self._state.gates:
            self._state.gates.append(gate)

    async def _follow_orders(self) -> None:
        """Carry the orders that people gave to the players, and notice when they are carried out."""
        state = self._state
        pausing = state.status is Status.PAUSING and state.mode is Mode.PAUSE
        if pausing and all(seat.idle or seat.ended for seat in state.seats.values()):
            self._clock.stop()
            await self._move(Status.PAUSED, state.reason)
        if all(seat.ended for seat in state.seats.values()) and state.launched and not state.mode.ends:
            await self._finish(Status.COMPLETED, "no learning player is left")

    def _budget_is_used_up(self) -> bool:
        budget = self._brief.budget_steps
        return budget is not None and self._state.steps >= budget and not self._state.mode.ends

    async def _keep_budget(self) -> None:
        if self._budget_is_used_up():
            await self._finish(Status.COMPLETED, f"the budget of {self._brief.budget_steps:,} steps is used up")

    async def _finish(self, final: Status, reason: str) -> None:
        """Let what is under way end, then conclude; the first reason to finish counts."""
        if self._state.mode.ends:
            return
        self._state.final, self._state.mode = final, Mode.DRAIN
        await self._move(Status.STOPPING, reason)
        await self._tell_players()

    async def _conclude(self) -> None:
        self._clock.stop()
        await workflow.wait_condition(workflow.all_handlers_finished)
        launched = self._state.launched
        # cleaning up may take minutes, and nobody should wait for it to see how the trial ended
        garbage_last = launched and workflow.patched("status-before-garbage")
        if launched:
            if workflow.patched("end-gates"):
                await give_up_gates(self._state)
            if self._ends_evaluations():
                await give_up_evaluations(self._state)
            if not garbage_last:
                await leave_no_garbage(self._state)
        await self._move(self._state.final or Status.STOPPED, self._state.reason)
        if garbage_last:
            await leave_no_garbage(self._state)

    def _ends_evaluations(self) -> bool:
        """Not in histories from before trials did; those that did before the patch know a brief that says `over`."""
        return workflow.patched("end-evaluations") or self._brief.over is not None

    # -- beginnings ---------------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        state = self._state
        state.brief = await begin_trial(TrialRequest(trial=state.trial))
        state.steps = state.brief.steps
        if state.brief.over:
            self.withdraw(state.reason)
        elif state.brief.start_paused and not state.mode.ends:
            # first: an order that comes while the status is being recorded must not be overwritten
            state.mode = Mode.PAUSE
            await self._move(Status.PAUSED, "waits for `resume`, as its file says")

    async def _launch(self) -> None:
        """First weights, first versions, one workflow for each learning player."""
        brief, state = self._brief, self._state
        self._launching = asyncio.create_task(enter(brief, given_up=lambda: state.mode.ends, tries=state.tries))
        try:
            await self._launching
        except (GivenUp, ActivityError, asyncio.CancelledError) as error:
            if state.mode.ends:
                return
            if isinstance(error, GivenUp) and not error.final:
                state.tries = error.setback.tries
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(state)
            raise
        finally:
            self._launching = None
        if state.status is Status.PENDING and not state.mode.ends:  # else resumed, perhaps paused or stopped since
            await self._move(Status.RUNNING)
        if state.mode.ends:
            return
        state.launched = True
        for learner in brief.learners:
            await self._start(learner)

    # -- news ---------------------------------------------------------------------------------------------------

    @workflow.signal
    def report(self, report: Report) -> None:
        """A line from a player or a gate."""
        self._reports.append(report)

    @workflow.query
    def live(self) -> LiveStatus:
        """How the trial is at this moment."""
        state = self._state
        return LiveStatus(
            status=state.status,
            reason=state.reason,
            steps=state.steps,
            seconds=self._clock.seconds,
            players={seat.learner.name: seat.generation for seat in state.seats.values()},
            gates=list(state.gates),
        )
