"""One learning player: plan, train, record and judge one generation after another."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from league.training_priority import Urgency
    from league.types import Role
    from league.win_rates import win_rates_by_name
    from orchestrator.contracts.errors import Failure
    from orchestrator.contracts.generations import (
        Chart,
        GenerationKey,
        GenerationOutcome,
        GenerationPlan,
        GenerationReport,
        Recorded,
        Rollback,
        chart_generation,
        judge_generation,
        plan_generation,
        record_generation,
        roll_back,
        train_generation,
    )
    from orchestrator.contracts.trials import TrialEvent, note_event
    from orchestrator.contracts.workflow_labels import summary_line
    from orchestrator.contracts.workflows import GateState, Mode, PlayerState, Report, ReportKind
    from orchestrator.tracing.generation_span import GenerationSpan
    from orchestrator.workflows.evaluations import (
        evaluate_against_field,
        evaluate_against_target,
        measure_nash_conv,
    )
    from orchestrator.workflows.new_runs import new_run_is_due
    from orchestrator.workflows.retries import (
        FAILURES_PER_RUN,
        FailedAttempt,
        RetriesExhausted,
        classify_failure,
        error_text,
        partial_of,
        retry_activity,
    )
    from orchestrator.workflows.signals import report_to_trial, start_gate

GENERATIONS_PER_RUN = 25
"""Keeps a run's history near a thousand events; the server suggests a new run much later."""
ROLLBACKS_WITHOUT_PAUSE = 3
LONG_PAUSE = timedelta(seconds=30)
"""The delay before the next attempt when rollbacks or retries alone do not help."""


@workflow.defn
class PlayerWorkflow:
    """Trains a player until its trial ends it, or until a failure that no retry fixes."""

    @workflow.init
    def __init__(self, state: PlayerState) -> None:
        self._state = state
        self._planning: workflow.ActivityHandle[GenerationPlan] | None = None
        self._plan_unwanted = False
        self._training: asyncio.Task[tuple[GenerationOutcome, int]] | None = None
        self._evaluation: asyncio.Task[None] | None = None
        self._failures = 0
        self._asked_to_pause = False

    @workflow.run
    async def run(self, state: PlayerState) -> None:
        try:
            await self._train_until_ended()
        except (RetriesExhausted, ActivityError) as error:
            await self._report(ReportKind.FAILED, detail=f"{self._state.name}: {error_text(error)}")
        else:
            await self._report(ReportKind.ENDED)
        await workflow.wait_condition(workflow.all_handlers_finished)

    async def _train_until_ended(self) -> None:
        generations = 0
        while True:
            while self._state.mode is Mode.PAUSE:
                self._asked_to_pause = False
                await self._report(ReportKind.IDLE)
                # reports again if the trial was resumed and paused again in the meantime
                await workflow.wait_condition(lambda: self._state.mode is not Mode.PAUSE or self._asked_to_pause)
            if self._state.mode.ends:
                break
            await self._generation()
            generations += 1
            if new_run_is_due(generations >= GENERATIONS_PER_RUN or self._failures >= FAILURES_PER_RUN):
                await self._finish_evaluation()
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(self._state)
        await self._finish_evaluation()

    async def _generation(self) -> None:
        state = self._state
        key = GenerationKey(
            trial=state.trial,
            player=state.player,
            generation=state.generation + 1,
            attempt=state.attempt,
            crews=state.crews,
        )
        with GenerationSpan(key, trial_name=state.trial_name, player_name=state.name):
            await self._train_and_record(key)

    async def _train_and_record(self, key: GenerationKey) -> None:
        state = self._state
        plan = await self._plan(key)
        if plan is None:
            return
        try:
            trained = await self._train(plan)
        except RetriesExhausted as end:
            if end.last.failure is not Failure.DAMAGED_CHECKPOINT:
                raise
            await self._roll_back(plan, end.last)
            return
        if trained is None:
            return
        outcome, tries = trained
        state.crews = outcome.crews
        try:
            recorded = await record_generation(_report_of(key, outcome, tries))
        except ActivityError as error:
            # after a long outage garbage collection may have removed the new checkpoint: train again by the same plan
            failure, problem = classify_failure(error)
            if failure is not Failure.DAMAGED_CHECKPOINT:
                raise
            await self._hold_off(FailedAttempt(failure=failure, problem=problem, tries=tries, delay=LONG_PAUSE))
            return
        state.generation, state.attempt, state.tries, state.partial = key.generation, 1, 0, None
        judgement, _ = await asyncio.gather(judge_generation(key), self._draw(self._chart(plan, outcome, recorded)))
        # reported first, so that the trial does not end before it knows of the gate
        await self._report(ReportKind.RECORDED, trial_steps=recorded.trial_steps, next_gate=judgement.gate)
        if judgement.gate:
            await start_gate(GateState(gate=judgement.gate, trial=state.trial), player=state.name)
        if state.role is Role.MAIN and state.generation % max(1, state.evaluate_every) == 0:
            await self._measure()

    async def _plan(self, key: GenerationKey) -> GenerationPlan | None:
        """Plan the generation, which may wait for games; None if the trial pauses or ends before the plan is made.

        A plan that was recorded all the same is found again when the player continues.
        """
        self._plan_unwanted = False
        self._planning = plan_generation.start(key)
        try:
            plan = await self._planning
        except (ActivityError, asyncio.CancelledError):
            if not self._plan_unwanted:
                raise
            return None
        finally:
            self._planning = None
        return None if self._plan_unwanted else plan

    async def _train(self, plan: GenerationPlan) -> tuple[GenerationOutcome, int] | None:
        """Train until an attempt succeeds; None if the trial ends now, or if a new run is to continue."""
        # a player that fails again and again stays far behind; with its priority it would starve the others
        first = plan.attempt == 1 and self._state.tries == 0
        plan = replace(plan, resume=self._state.partial)
        self._training = asyncio.create_task(
            retry_activity(
                train_generation,
                plan if first else replace(plan, urgency=Urgency.IN_STEP),
                on_failure=self._note_failure,
                should_stop=lambda: self._state.mode is Mode.NOW or self._failures >= FAILURES_PER_RUN,
                tries=self._state.tries,
                next_message=self._go_on,
            )
        )
        try:
            return await self._training
        except (RetriesExhausted, ActivityError, asyncio.CancelledError) as error:
            if self._state.mode is Mode.NOW:
                return None
            if isinstance(error, RetriesExhausted) and not error.final:
                self._state.tries = error.last.tries
                return None
            raise
        finally:
            self._training = None

    def _go_on(self, plan: GenerationPlan, error: ActivityError) -> GenerationPlan:
        """The plan of the next attempt: it goes on from the newest mid-generation checkpoint, if there is one."""
        self._state.partial = partial_of(error) or self._state.partial
        return replace(plan, resume=self._state.partial)

    async def _note_failure(self, failed: FailedAttempt) -> None:
        await self._note("generation_retried", self._state.generation + 1, failed)

    async def _note(self, kind: str, generation: int, failed: FailedAttempt) -> None:
        state = self._state
        self._failures += 1
        await note_event(
            TrialEvent(
                trial=state.trial,
                key=f"{state.player}:{workflow.info().run_id}:{self._failures}",
                type=kind,
                payload={
                    "player": state.player,
                    "name": state.name,
                    "generation": generation,
                    **failed.payload,
                },
            )
        )

    async def _roll_back(self, plan: GenerationPlan, failed: FailedAttempt) -> None:
        """After a damaged checkpoint: return to the last good version, and make a new plan."""
        if self._state.attempt > ROLLBACKS_WITHOUT_PAUSE:
            await self._hold_off(replace(failed, delay=LONG_PAUSE))
        self._failures += 1
        await roll_back(
            Rollback(
                trial=plan.trial,
                player=plan.player,
                generation=plan.generation,
                attempt=plan.attempt,
                problem=failed.problem,
            )
        )
        self._state.attempt, self._state.tries, self._state.partial = self._state.attempt + 1, 0, None

    async def _hold_off(self, failed: FailedAttempt) -> None:
        """Wait after a failure that may recur at once, such as workers with different artifact stores."""
        await self._note_failure(failed)
        with suppress(TimeoutError):
            await workflow.wait_condition(
                lambda: self._state.mode is Mode.NOW,
                timeout=failed.delay,
                timeout_summary=summary_line(f"after {failed.failure}"),
            )

    async def _draw(self, chart: Chart) -> None:
        """Write the generation's TensorBoard points; a failure does not stop the training."""
        try:
            await chart_generation(chart)
        except ActivityError as error:
            workflow.logger.warning("no chart of generation %s: %s", chart.generation, classify_failure(error)[1])

    def _chart(self, plan: GenerationPlan, outcome: GenerationOutcome, recorded: Recorded) -> Chart:
        names = {opponent.version: opponent.player_name for opponent in plan.opponents if opponent.player_name}
        return Chart(
            trial=self._state.trial,
            trial_name=self._state.trial_name,
            player=self._state.player,
            player_name=self._state.name,
            generation=plan.generation,
            steps=recorded.player_steps,
            committed_at=recorded.committed_at,
            metrics=outcome.metrics,
            win_rates=win_rates_by_name(outcome.tallies, names),
        )

    async def _measure(self) -> None:
        """Start rating games: against a field of the trial, and against the target if there is one."""
        state = self._state
        await evaluate_against_field(state, self._note)
        if state.nash_conv and state.mode is not Mode.NOW:
            await measure_nash_conv(state, self._note)
        free = self._evaluation is None or self._evaluation.done()
        if state.target and free and state.mode is not Mode.NOW:
            await self._finish_evaluation()
            self._evaluation = asyncio.create_task(self._evaluate(state.generation))

    async def _evaluate(self, generation: int) -> None:
        reached = await evaluate_against_target(
            self._state,
            generation,
            note=self._note,
            should_stop=lambda: self._state.mode is Mode.NOW or self._failures >= FAILURES_PER_RUN,
        )
        if reached is not None:
            await self._report(ReportKind.TARGET_REACHED, detail=f"{self._state.name}: {reached}")

    async def _finish_evaluation(self) -> None:
        if self._evaluation is None:
            return
        try:
            await self._evaluation
        except (RetriesExhausted, ActivityError, asyncio.CancelledError):
            if self._state.mode is not Mode.NOW:
                raise

    @workflow.signal
    def set_mode(self, mode: Mode) -> None:
        """Set the mode that the trial wants. An order to end cannot be revoked."""
        if self._state.mode is Mode.NOW or (self._state.mode.ends and not mode.ends):
            return
        self._state.mode = mode
        self._asked_to_pause = mode is Mode.PAUSE
        self._break_off_planning()
        if mode is Mode.NOW:
            for under_way in (self._training, self._evaluation):
                if under_way is not None:
                    under_way.cancel()

    def _break_off_planning(self) -> None:
        """Cancel a plan that is being made: it may wait for games for minutes, and a pause or an end must not."""
        if self._planning is None or self._plan_unwanted or self._state.mode is Mode.RUN:
            return
        if workflow.patched("break-off-planning"):
            self._plan_unwanted = True
            self._planning.cancel()

    @workflow.query
    def state(self) -> PlayerState:
        """The player's state, as its next run would start with it."""
        return self._state

    async def _report(
        self, kind: ReportKind, *, trial_steps: int = 0, detail: str = "", next_gate: str | None = None
    ) -> None:
        report = Report(
            happening=kind,
            sender=self._state.player,
            generation=self._state.generation,
            trial_steps=trial_steps,
            detail=detail,
            next_gate=next_gate,
            crews=self._state.crews,
        )
        await report_to_trial(self._state.trial, report)


def _report_of(key: GenerationKey, outcome: GenerationOutcome, tries: int) -> GenerationReport:
    """The plan is named, not repeated: the store has recorded it, and the history holds it already."""
    return GenerationReport(
        trial=key.trial,
        player=key.player,
        generation=key.generation,
        attempt=key.attempt,
        outcome=outcome,
        tries=tries,
    )
