"""A promotion gate: a candidate plays the champion, batch by batch, until the sequential test decides."""

from __future__ import annotations

import asyncio
from datetime import timedelta

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
        judge_gate_probe,
        play_games,
        record_gate_batch,
        stop_gate,
    )
    from orchestrator.contracts.trials import TrialEvent, note_event
    from orchestrator.contracts.workflows import GateState, Report, ReportKind
    from orchestrator.workflows.new_runs import new_run_is_due
    from orchestrator.workflows.own_labels import show_status
    from orchestrator.workflows.retries import (
        FAILURES_PER_RUN,
        FailedAttempt,
        RetriesExhausted,
        as_lost_games,
        error_text,
        retry_activity,
    )
    from orchestrator.workflows.signals import report_to_trial, start_gate

BATCHES_PER_RUN = 40
MAX_LOST_BATCHES = 5
"""Batches of one run whose games may be lost before they are recorded; more mean that the store worker and the train
worker do not share an artifact store.
"""
PROBE_INTERVAL = timedelta(seconds=10)
"""How often the store is asked whether the probes of a gate are over."""


@workflow.defn
class GateWorkflow:
    """Runs one gate, then starts the next one that waited for the same alias."""

    @workflow.init
    def __init__(self, state: GateState) -> None:
        self._state = state
        self._playing: asyncio.Task[tuple[PlayOutcome, int]] | None = None
        self._failures = 0
        self._lost = 0

    @workflow.run
    async def run(self, state: GateState) -> str:
        try:
            return await self._play_batches(state)
        except ActivityError:
            # the store refuses the gate; its trial must not wait for it
            show_status("failed")
            failed = Report(happening=ReportKind.GATE_ENDED, sender=state.gate, detail="failed")
            await report_to_trial(state.trial, failed)
            raise

    async def _play_batches(self, state: GateState) -> str:
        brief = await gate_brief(GateRequest(gate=state.gate))
        if not state.announced:
            state.trial, state.announced = brief.trial, True
            await report_to_trial(brief.trial, Report(happening=ReportKind.GATE_OPENED, sender=state.gate))
        batches = 0
        while brief.request is not None or brief.probing:
            brief = await (self._probe(brief) if brief.request is None else self._batch(brief, brief.request))
            batches += 1
            enough = batches >= BATCHES_PER_RUN or self._failures >= FAILURES_PER_RUN
            if (brief.request is not None or brief.probing) and new_run_is_due(enough):
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(state)
        await self._end(brief)
        show_status(brief.status)
        return brief.status

    async def _batch(self, brief: GateBrief, request: PlayRequest) -> GateBrief:
        """Play and record one batch; a failure that no retry fixes ends the gate as invalid."""
        try:
            outcome = await self._play(request)
            if outcome is None and not self._state.stop_reason:
                return brief  # a new run continues with the same batch
            if outcome is None:
                return await stop_gate(GateStop(gate=brief.gate, reason=self._state.stop_reason))
            return await record_gate_batch(GateBatch(gate=brief.gate, batch=brief.next_batch, outcome=outcome))
        except (RetriesExhausted, ActivityError) as error:
            lost = as_lost_games(error) if isinstance(error, ActivityError) else None
            if lost is not None and self._lost < MAX_LOST_BATCHES:
                self._lost += 1
                await self._note_failure(lost)
                return brief  # the same batch again
            return await stop_gate(GateStop(gate=brief.gate, reason=error_text(error)))

    async def _probe(self, brief: GateBrief) -> GateBrief:
        """Wait a while for the gate's probes, whose workflows the API starts from their rows."""
        try:
            await workflow.wait_condition(lambda: bool(self._state.stop_reason), timeout=PROBE_INTERVAL)
        except TimeoutError:
            try:
                return await judge_gate_probe(GateRequest(gate=brief.gate))
            except ActivityError as error:
                return await stop_gate(GateStop(gate=brief.gate, reason=error_text(error)))
        return await stop_gate(GateStop(gate=brief.gate, reason=self._state.stop_reason))

    async def _play(self, request: PlayRequest) -> PlayOutcome | None:
        """Play the batch's games; None when told to stop, or when a new run is to continue with them."""
        if self._state.stop_reason:
            return None
        self._playing = asyncio.create_task(
            retry_activity(
                play_games,
                request,
                on_failure=self._note_failure,
                should_stop=lambda: bool(self._state.stop_reason) or self._failures >= FAILURES_PER_RUN,
                tries=self._state.tries,
            )
        )
        try:
            outcome, _ = await self._playing
        except (RetriesExhausted, ActivityError, asyncio.CancelledError) as error:
            if self._state.stop_reason:
                return None
            if isinstance(error, RetriesExhausted) and not error.final:
                self._state.tries = error.last.tries
                return None
            raise
        finally:
            self._playing = None
        self._state.tries = 0
        return outcome

    async def _note_failure(self, failed: FailedAttempt) -> None:
        self._failures += 1
        await note_event(
            TrialEvent(
                trial=self._state.trial,
                key=f"gate:{self._state.gate}:{workflow.info().run_id}:{workflow.info().get_current_history_length()}",
                type="gate_retried",
                payload={"gate": self._state.gate, **failed.payload},
            )
        )

    async def _end(self, brief: GateBrief) -> None:
        ours = brief.next_gate if brief.next_trial == brief.trial else None
        over = Report(happening=ReportKind.GATE_ENDED, sender=brief.gate, detail=brief.status, next_gate=ours)
        # reported first: the trial would wait forever for a next gate that ended before it was reported
        reported_first = workflow.patched("tell-before-the-next-gate")
        if reported_first:
            await report_to_trial(brief.trial, over)
        if brief.next_gate:
            await start_gate(GateState(gate=brief.next_gate, trial=brief.next_trial or ""))
        if not reported_first:
            await report_to_trial(brief.trial, over)
        await workflow.wait_condition(workflow.all_handlers_finished)

    @workflow.signal
    def stop(self, reason: str) -> None:
        """End early: the gate becomes invalid."""
        self._state.stop_reason = reason or "stopped by an operator"
        if self._playing is not None:
            self._playing.cancel()
