"""One learning player: plan, train, record, judge, again and again."""

from __future__ import annotations

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
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
    from orchestrator.contracts.play import (
        EvaluationKey,
        EvaluationReport,
        plan_evaluation,
        play_games,
        record_evaluation,
    )
    from orchestrator.contracts.tournaments import TrialEvaluation, open_trial_evaluation
    from orchestrator.contracts.trials import TrialEvent, note_event
    from orchestrator.contracts.workflows import GateState, Happening, Mode, PlayerState, Report
    from orchestrator.workflows.attempts import GivenUp, Setback, failure_of, persist
    from orchestrator.workflows.messages import start_gate, tell_trial
    from orchestrator.workflows.tournament import start_tournament

GENERATIONS_A_RUN = 25
"""A run's history stays near a thousand events; counted, because the server suggests a new run much later."""
SETBACKS_A_RUN = 50


@workflow.defn
class PlayerWorkflow:
    """A player's life as a learner. It ends when its trial says so, or when it cannot go on."""

    @workflow.init
    def __init__(self, state: PlayerState) -> None:
        self._state = state
        self._training: asyncio.Task[tuple[GenerationOutcome, int]] | None = None
        self._evaluation: asyncio.Task[None] | None = None
        self._setbacks = 0

    @workflow.run
    async def run(self, state: PlayerState) -> None:
        try:
            await self._live()
        except GivenUp as end:
            await self._tell(Happening.FAILED, detail=f"{self._state.name}: {end}")
        except ActivityError as error:
            failure, problem = failure_of(error)
            await self._tell(Happening.FAILED, detail=f"{self._state.name}: {failure}: {problem}")
        else:
            await self._tell(Happening.ENDED)
        await workflow.wait_condition(workflow.all_handlers_finished)

    async def _live(self) -> None:
        generations = 0
        while True:
            if self._state.mode is Mode.PAUSE:
                await self._tell(Happening.IDLE)
                await workflow.wait_condition(lambda: self._state.mode is not Mode.PAUSE)
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
        plan = await plan_generation(key)
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
            if failure_of(error)[0] is not Failure.DAMAGED_CHECKPOINT:
                raise
            self._setbacks += 1
            return
        state.generation, state.attempt = key.generation, 1
        judgement, _ = await asyncio.gather(
            judge_generation(key), chart_generation(self._chart(key.generation, outcome, recorded))
        )
        if judgement.gate:
            await start_gate(GateState(gate=judgement.gate, trial=state.trial))
        await self._tell(Happening.RECORDED, trial_steps=recorded.trial_steps)
        if state.role is Role.MAIN and state.generation % max(1, state.evaluate_every) == 0:
            await self._measure()

    async def _train(self, plan: GenerationPlan) -> tuple[GenerationOutcome, int] | None:
        """Train until an attempt succeeds; None when the trial wants to stop now."""
        self._training = asyncio.create_task(
            persist(
                train_generation,
                plan,
                on_setback=self._note_setback,
                given_up=lambda: self._state.mode is Mode.NOW,
            )
        )
        try:
            return await self._training
        except (GivenUp, asyncio.CancelledError):
            if self._state.mode is Mode.NOW:
                return None
            raise
        finally:
            self._training = None

    async def _note_setback(self, setback: Setback) -> None:
        state = self._state
        self._setbacks += 1
        generation = state.generation + 1
        await note_event(
            TrialEvent(
                trial=state.trial,
                key=f"{state.player}:{generation}:{state.attempt}:{workflow.info().run_id}:{setback.tries}",
                type="generation_retried",
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
        self._state.attempt += 1

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
        due = TrialEvaluation(trial=state.trial, player=state.player, generation=state.generation)
        opened = await open_trial_evaluation(due)
        if opened.tournament is not None:
            await start_tournament(opened.tournament)
        if state.target and (self._evaluation is None or self._evaluation.done()):
            self._evaluation = asyncio.create_task(self._evaluate(state.generation))

    async def _evaluate(self, generation: int) -> None:
        state = self._state
        key = EvaluationKey(trial=state.trial, player=state.player, generation=generation)
        request = await plan_evaluation(key)
        outcome, _ = await persist(play_games, request, on_setback=self._note_setback)
        target = await record_evaluation(
            EvaluationReport(
                trial=state.trial, player=state.player, generation=generation, request=request, outcome=outcome
            )
        )
        if target.reached and state.target:
            goal = f"win rate {target.win_rate:.3f} against {state.target.opponent} after generation {generation}"
            await self._tell(Happening.TARGET_REACHED, detail=f"{state.name}: {goal}")

    async def _finish_evaluation(self) -> None:
        if self._evaluation is None:
            return
        if self._state.mode is Mode.NOW:
            self._evaluation.cancel()
        try:
            await self._evaluation
        except asyncio.CancelledError:
            if self._state.mode is not Mode.NOW:
                raise

    @workflow.signal
    def set_mode(self, mode: Mode) -> None:
        """What the trial wants from now on. An order to end cannot be taken back."""
        if self._state.mode is Mode.NOW or (self._state.mode.ends and not mode.ends):
            return
        self._state.mode = mode
        if mode is Mode.NOW and self._training is not None:
            self._training.cancel()

    @workflow.query
    def state(self) -> PlayerState:
        return self._state

    async def _tell(self, happening: Happening, *, trial_steps: int = 0, detail: str = "") -> None:
        report = Report(
            happening=happening,
            sender=self._state.player,
            generation=self._state.generation,
            trial_steps=trial_steps,
            detail=detail,
        )
        await tell_trial(self._state.trial, report)
