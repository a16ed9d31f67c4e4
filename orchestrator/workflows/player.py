"""One learning player: plan, train, record, judge, again and again."""

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
    from orchestrator.contracts.workflows import GateState, Happening, Mode, PlayerState, Report
    from orchestrator.workflows.evaluations import meet_the_field, meet_the_target
    from orchestrator.workflows.retries import (
        SETBACKS_A_RUN,
        GivenUp,
        Setback,
        failure_of,
        persist,
        words_of,
    )
    from orchestrator.workflows.signals import start_gate, tell_trial

GENERATIONS_A_RUN = 25
"""A run's history stays near a thousand events; counted, because the server suggests a new run much later."""
ROLLBACKS_AT_ONCE = 3
LAST_RESORT = timedelta(seconds=30)
"""Before the next attempt where the usual remedy may not have helped."""


@workflow.defn
class PlayerWorkflow:
    """A player's life as a learner. It ends when its trial says so, or when it cannot go on."""

    @workflow.init
    def __init__(self, state: PlayerState) -> None:
        self._state = state
        self._planning: workflow.ActivityHandle[GenerationPlan] | None = None
        self._plan_unwanted = False
        self._training: asyncio.Task[tuple[GenerationOutcome, int]] | None = None
        self._evaluation: asyncio.Task[None] | None = None
        self._setbacks = 0
        self._asked_to_pause = False

    @workflow.run
    async def run(self, state: PlayerState) -> None:
        try:
            await self._live()
        except (GivenUp, ActivityError) as error:
            await self._tell(Happening.FAILED, detail=f"{self._state.name}: {words_of(error)}")
        else:
            await self._tell(Happening.ENDED)
        await workflow.wait_condition(workflow.all_handlers_finished)

    async def _live(self) -> None:
        generations = 0
        while True:
            while self._state.mode is Mode.PAUSE:
                self._asked_to_pause = False
                await self._tell(Happening.IDLE)
                # a pause that was ended and ordered again at once is answered again
                await workflow.wait_condition(lambda: self._state.mode is not Mode.PAUSE or self._asked_to_pause)
            if self._state.mode.ends:
                break
            await self._generation()
            generations += 1
            if generations >= GENERATIONS_A_RUN or self._setbacks >= SETBACKS_A_RUN:
                await self._finish_evaluation()
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(self._state)
        await self._finish_evaluation()

    async def _generation(self) -> None:
        state = self._state
        key = GenerationKey(
            trial=state.trial, player=state.player, generation=state.generation + 1, attempt=state.attempt
        )
        plan = await self._plan(key)
        if plan is None:
            return
        try:
            trained = await self._train(plan)
        except GivenUp as end:
            if end.setback.failure is not Failure.DAMAGED_CHECKPOINT:
                raise
            await self._roll_back(plan, end.setback)
            return
        if trained is None:
            return
        outcome, tries = trained
        report = GenerationReport(
            trial=state.trial, player=state.player, generation=key.generation, plan=plan, outcome=outcome, tries=tries
        )
        try:
            recorded = await record_generation(report)
        except ActivityError as error:
            # after a long outage the new checkpoint may have been collected as garbage: the plan stands, train again
            failure, problem = failure_of(error)
            if failure is not Failure.DAMAGED_CHECKPOINT:
                raise
            await self._hold_off(Setback(failure=failure, problem=problem, tries=tries, delay=LAST_RESORT))
            return
        state.generation, state.attempt, state.tries = key.generation, 1, 0
        judgement, _ = await asyncio.gather(
            judge_generation(key), self._draw(self._chart(key.generation, outcome, recorded))
        )
        # told first, so that the trial does not end before it knows of the gate
        await self._tell(Happening.RECORDED, trial_steps=recorded.trial_steps, next_gate=judgement.gate)
        if judgement.gate:
            await start_gate(GateState(gate=judgement.gate, trial=state.trial))
        if state.role is Role.MAIN and state.generation % max(1, state.evaluate_every) == 0:
            await self._measure()

    async def _plan(self, key: GenerationKey) -> GenerationPlan | None:
        """The plan, for which it may have to wait; None when the trial wants something else before it is there.

        A plan that was made nevertheless stands, and is found when the player goes on.
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
        """Train until an attempt succeeds; None when the trial wants to stop now, or a new run is to go on with it."""
        # a player that fails and fails is far behind for good: it waits its turn, or the others would do so for ever
        first = plan.attempt == 1 and self._state.tries == 0
        self._training = asyncio.create_task(
            persist(
                train_generation,
                plan if first else replace(plan, urgency=Urgency.IN_STEP),
                on_setback=self._note_setback,
                given_up=lambda: self._state.mode is Mode.NOW or self._setbacks >= SETBACKS_A_RUN,
                tries=self._state.tries,
            )
        )
        try:
            return await self._training
        except (GivenUp, ActivityError, asyncio.CancelledError) as error:
            if self._state.mode is Mode.NOW:
                return None
            if isinstance(error, GivenUp) and not error.final:
                self._state.tries = error.setback.tries
                return None
            raise
        finally:
            self._training = None

    async def _note_setback(self, setback: Setback) -> None:
        await self._note("generation_retried", self._state.generation + 1, setback)

    async def _note(self, kind: str, generation: int, setback: Setback) -> None:
        state = self._state
        self._setbacks += 1
        await note_event(
            TrialEvent(
                trial=state.trial,
                key=f"{state.player}:{workflow.info().run_id}:{self._setbacks}",
                type=kind,
                payload={
                    "player": state.player,
                    "name": state.name,
                    "generation": generation,
                    "failure": setback.failure.value,
                    "problem": setback.problem,
                    "tries": setback.tries,
                    "delay_seconds": setback.delay.total_seconds(),
                },
            )
        )

    async def _roll_back(self, plan: GenerationPlan, setback: Setback) -> None:
        """A damaged checkpoint: back to the last good version, and a new plan."""
        if self._state.attempt > ROLLBACKS_AT_ONCE:
            await self._hold_off(replace(setback, delay=LAST_RESORT))
        self._setbacks += 1
        await roll_back(
            Rollback(
                trial=plan.trial,
                player=plan.player,
                generation=plan.generation,
                attempt=plan.attempt,
                problem=setback.problem,
            )
        )
        self._state.attempt, self._state.tries = self._state.attempt + 1, 0

    async def _hold_off(self, setback: Setback) -> None:
        """Trouble that may come back at once, such as workers that see different stores: say so, and take time."""
        await self._note_setback(setback)
        with suppress(TimeoutError):
            await workflow.wait_condition(lambda: self._state.mode is Mode.NOW, timeout=setback.delay)

    async def _draw(self, chart: Chart) -> None:
        """Points on a chart are worth a few tries, and never a halt of the training."""
        try:
            await chart_generation(chart)
        except ActivityError as error:
            workflow.logger.warning("no chart of generation %s: %s", chart.generation, failure_of(error)[1])

    def _chart(self, generation: int, outcome: GenerationOutcome, recorded: Recorded) -> Chart:
        return Chart(
            trial=self._state.trial,
            trial_name=self._state.trial_name,
            player=self._state.player,
            player_name=self._state.name,
            generation=generation,
            steps=recorded.player_steps,
            committed_at=recorded.committed_at,
            metrics=outcome.metrics,
            tallies=outcome.tallies,
        )

    async def _measure(self) -> None:
        """Rating games beside the training: against a field of the trial, and against the target if there is one."""
        state = self._state
        await meet_the_field(state, self._note)
        free = self._evaluation is None or self._evaluation.done()
        if state.target and free and state.mode is not Mode.NOW:
            await self._finish_evaluation()
            self._evaluation = asyncio.create_task(self._evaluate(state.generation))

    async def _evaluate(self, generation: int) -> None:
        reached = await meet_the_target(
            self._state,
            generation,
            note=self._note,
            given_up=lambda: self._state.mode is Mode.NOW or self._setbacks >= SETBACKS_A_RUN,
        )
        if reached is not None:
            await self._tell(Happening.TARGET_REACHED, detail=f"{self._state.name}: {reached}")

    async def _finish_evaluation(self) -> None:
        if self._evaluation is None:
            return
        try:
            await self._evaluation
        except (GivenUp, ActivityError, asyncio.CancelledError):
            if self._state.mode is not Mode.NOW:
                raise

    @workflow.signal
    def set_mode(self, mode: Mode) -> None:
        """What the trial wants from now on. An order to end cannot be taken back."""
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
        """A plan may wait for games for minutes; whoever is to pause or to end does not."""
        if self._planning is None or self._plan_unwanted or self._state.mode is Mode.RUN:
            return
        if workflow.patched("break-off-planning"):
            self._plan_unwanted = True
            self._planning.cancel()

    @workflow.query
    def state(self) -> PlayerState:
        return self._state

    async def _tell(
        self, happening: Happening, *, trial_steps: int = 0, detail: str = "", next_gate: str | None = None
    ) -> None:
        report = Report(
            happening=happening,
            sender=self._state.player,
            generation=self._state.generation,
            trial_steps=trial_steps,
            detail=detail,
            next_gate=next_gate,
        )
        await tell_trial(self._state.trial, report)
