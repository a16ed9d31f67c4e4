"""Rating games of a player while it trains: against a field of its trial, and against the trial's target."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.errors import Failure
    from orchestrator.contracts.nash_conv import compute_nash_conv, plan_nash_conv, record_nash_conv
    from orchestrator.contracts.play import (
        EvaluationKey,
        EvaluationReport,
        plan_evaluation,
        play_games,
        record_evaluation,
    )
    from orchestrator.contracts.tournaments import TrialEvaluation, open_trial_evaluation
    from orchestrator.contracts.workflows import Mode, PlayerState
    from orchestrator.workflows.retries import (
        MAY_BE_A_BUG,
        FailedAttempt,
        RetriesExhausted,
        as_lost_games,
        classify_failure,
        retry_activity,
    )
    from orchestrator.workflows.signals import start_tournament

NoteFailure = Callable[[str, int, FailedAttempt], Awaitable[None]]
"""Writes an event: its kind, the generation, and the failed attempt."""


async def evaluate_against_field(state: PlayerState, note: NoteFailure) -> None:
    """Start a tournament of the newest version; a failure to open it is an event and does not stop the training."""
    due = TrialEvaluation(trial=state.trial, player=state.player, generation=state.generation)
    try:
        opened = await open_trial_evaluation(due)
        if opened.tournament is not None:
            await start_tournament(opened.tournament, name=f"{state.name} after generation {state.generation}")
    except ActivityError as error:
        failure, problem = classify_failure(error)
        dropped = FailedAttempt(failure=failure, problem=problem, tries=1, delay=timedelta(0))
        await note("evaluation_dropped", state.generation, dropped)


async def measure_nash_conv(state: PlayerState, note: NoteFailure) -> None:
    """Record NashConv of the newest version; a failure is an event and does not stop the training."""
    key = EvaluationKey(trial=state.trial, player=state.player, generation=state.generation)
    try:
        computing = compute_nash_conv.start(await plan_nash_conv(key))
        await workflow.wait_condition(lambda: computing.done() or state.mode is Mode.NOW)
        if not computing.done():  # no train worker may be there to end it
            computing.cancel()
            return
        await record_nash_conv(await computing)
    except ActivityError as error:
        failure, problem = classify_failure(error)
        dropped = FailedAttempt(failure=failure, problem=f"NashConv: {problem}", tries=1, delay=timedelta(0))
        await note("evaluation_dropped", state.generation, dropped)


async def evaluate_against_target(
    state: PlayerState, generation: int, *, note: NoteFailure, should_stop: Callable[[], bool]
) -> str | None:
    """Play the target's opponent; returns the result in words if the target was reached, else None."""
    request = await plan_evaluation(EvaluationKey(trial=state.trial, player=state.player, generation=generation))
    try:
        outcome, _ = await retry_activity(
            play_games,
            request,
            on_failure=lambda failed: note("evaluation_retried", generation, failed),
            should_stop=should_stop,
        )
    except RetriesExhausted as end:
        if state.mode is Mode.NOW or not _may_pass(end):
            raise
        # training repairs damage and outages end: a later version is evaluated instead
        await note("evaluation_dropped", generation, end.last)
        return None
    report = EvaluationReport(
        trial=state.trial, player=state.player, generation=generation, request=request, outcome=outcome
    )
    try:
        result = await record_evaluation(report)
    except ActivityError as error:
        lost = as_lost_games(error)
        if lost is None:
            raise
        await note("evaluation_dropped", generation, lost)
        return None
    if not result.reached or state.target is None:
        return None
    return f"win rate {result.win_rate:.3f} against {state.target.opponent} after generation {generation}"


def _may_pass(end: RetriesExhausted) -> bool:
    """Whether the failure may be gone at the next evaluation."""
    if end.last.failure in MAY_BE_A_BUG and not end.final:
        # the run is to end after many failures; this single unknown one does not end the player
        return workflow.patched("drop-evaluations-of-unknown-trouble")
    return not end.final or end.last.failure is Failure.DAMAGED_CHECKPOINT
