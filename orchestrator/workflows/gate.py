"""A promotion gate: a candidate against the champion, batch by batch, until the sequential test has decided."""

from __future__ import annotations

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.play import (
        GateBatch,
        GateBrief,
        GateRequest,
        GateStop,
        PlayOutcome,
        PlayRequest,
        gate_brief,
        play_games,
        record_gate_batch,
        stop_gate,
    )
    from orchestrator.contracts.trials import TrialEvent, note_event
    from orchestrator.contracts.workflows import GateState, Happening, Report
    from orchestrator.workflows.retries import SETBACKS_A_RUN, GivenUp, Setback, lost_games, persist, words_of
    from orchestrator.workflows.signals import start_gate, tell_trial

BATCHES_A_RUN = 40
MOST_LOST = 5
"""Batches of a run whose games may be lost before they are recorded; more of them means that the store and the players
do not share their files.
"""


@workflow.defn
class GateWorkflow:
    """Runs one gate; opens the next one that waited for the same alias."""

    @workflow.init
    def __init__(self, state: GateState) -> None:
        self._state = state
        self._playing: asyncio.Task[tuple[PlayOutcome, int]] | None = None
        self._setbacks = 0
        self._lost = 0

    @workflow.run
    async def run(self, state: GateState) -> str:
        try:
            return await self._live(state)
        except ActivityError:
            # the store will have none of it; its trial must not wait for it
            await tell_trial(state.trial, Report(happening=Happening.GATE_ENDED, sender=state.gate, detail="failed"))
            raise

    async def _live(self, state: GateState) -> str:
        brief = await gate_brief(GateRequest(gate=state.gate))
        if not state.announced:
            state.trial, state.announced = brief.trial, True
            await tell_trial(brief.trial, Report(happening=Happening.GATE_OPENED, sender=state.gate))
        batches = 0
        while brief.request is not None:
            brief = await self._batch(brief, brief.request)
            batches += 1
            if brief.request is not None and (batches >= BATCHES_A_RUN or self._setbacks >= SETBACKS_A_RUN):
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(state)
        await self._end(brief)
        return brief.status

    async def _batch(self, brief: GateBrief, request: PlayRequest) -> GateBrief:
        """Play and record one batch; trouble that cannot be mended ends the gate as invalid."""
        try:
            outcome = await self._play(request)
            if outcome is None and not self._state.stop_reason:
                return brief  # a new run goes on with the same batch
            if outcome is None:
                return await stop_gate(GateStop(gate=brief.gate, reason=self._state.stop_reason))
            return await record_gate_batch(GateBatch(gate=brief.gate, batch=brief.next_batch, outcome=outcome))
        except (GivenUp, ActivityError) as error:
            lost = lost_games(error) if isinstance(error, ActivityError) else None
            if lost is not None and self._lost < MOST_LOST:
                self._lost += 1
                await self._note_setback(lost)
                return brief  # the same batch again
            return await stop_gate(GateStop(gate=brief.gate, reason=words_of(error)))

    async def _play(self, request: PlayRequest) -> PlayOutcome | None:
        """The batch's games; None when told to stop, or when this run has met enough trouble."""
        if self._state.stop_reason:
            return None
        self._playing = asyncio.create_task(
            persist(
                play_games,
                request,
                on_setback=self._note_setback,
                given_up=lambda: bool(self._state.stop_reason) or self._setbacks >= SETBACKS_A_RUN,
                tries=self._state.tries,
            )
        )
        try:
            outcome, _ = await self._playing
        except (GivenUp, ActivityError, asyncio.CancelledError) as error:
            if self._state.stop_reason:
                return None
            if isinstance(error, GivenUp) and not error.final:
                self._state.tries = error.setback.tries
                return None
            raise
        finally:
            self._playing = None
        self._state.tries = 0
        return outcome

    async def _note_setback(self, setback: Setback) -> None:
        self._setbacks += 1
        await note_event(
            TrialEvent(
                trial=self._state.trial,
                key=f"gate:{self._state.gate}:{workflow.info().run_id}:{workflow.info().get_current_history_length()}",
                type="gate_retried",
                payload={
                    "gate": self._state.gate,
                    "failure": setback.failure.value,
                    "problem": setback.problem,
                    "tries": setback.tries,
                    "delay_seconds": setback.delay.total_seconds(),
                },
            )
        )

    async def _end(self, brief: GateBrief) -> None:
        ours = brief.next_gate if brief.next_trial == brief.trial else None
        over = Report(happening=Happening.GATE_ENDED, sender=brief.gate, detail=brief.status, next_gate=ours)
        # told first: a next gate that ended before its trial hears of it here would be waited for, for ever
        told_first = workflow.patched("tell-before-the-next-gate")
        if told_first:
            await tell_trial(brief.trial, over)
        if brief.next_gate:
            await start_gate(GateState(gate=brief.next_gate, trial=brief.next_trial or ""))
        if not told_first:
            await tell_trial(brief.trial, over)
        await workflow.wait_condition(workflow.all_handlers_finished)

    @workflow.signal
    def stop(self, reason: str) -> None:
        """End early: the gate becomes invalid."""
        self._state.stop_reason = reason or "stopped by an operator"
        if self._playing is not None:
            self._playing.cancel()
