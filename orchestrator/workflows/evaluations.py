"""Rating games of a player beside its training: against a field of its trial, and against the trial's target."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.errors import Failure
    from orchestrator.contracts.play import (
        EvaluationKey,
        EvaluationReport,
        plan_evaluation,
        play_games,
        record_evaluation,
    )
    from orchestrator.contracts.tournaments import TrialEvaluation, open_trial_evaluation
    from orchestrator.contracts.workflows import Mode, PlayerState
    from orchestrator.workflows.retries import GivenUp, Setback, failure_of, lost_games, persist
    from orchestrator.workflows.tournament import start_tournament

Note = Callable[[str, int, Setback], Awaitable[None]]
"""Makes an event of its kind of what went wrong in a generation."""


async def meet_the_field(state: PlayerState, note: Note) -> None:
    """A tournament of the newest version; a field that cannot be had is no reason to stop training."""
    due = TrialEvaluation(trial=state.trial, player=state.player, generation=state.generation)
    try:
        opened = await open_trial_evaluation(due)
        if opened.tournament is not None:
            await start_tournament(opened.tournament)
    except ActivityError as error:
        failure, problem = failure_of(error)
        dropped = Setback(failure=failure, problem=problem, tries=1, delay=timedelta(0))
        await note("evaluation_dropped", state.generation, dropped)


async def meet_the_target(
    state: PlayerState, generation: int, *, note: Note, given_up: Callable[[], bool]
) -> str | None:
    """Play the target's opponent; how well it went where that reached the target, else None."""
    request = await plan_evaluation(EvaluationKey(trial=state.trial, player=state.player, generation=generation))
    try:
        outcome, _ = await persist(
            play_games,
            request,
            on_setback=lambda setback: note("evaluation_retried", generation, setback),
            given_up=given_up,
        )
    except GivenUp as end:
        if state.mode is Mode.NOW or not _passes(end):
            raise
        # damage is mended where the player trains, outages end: a later version is measured instead
        await note("evaluation_dropped", generation, end.setback)
        return None
    report = EvaluationReport(
        trial=state.trial, player=state.player, generation=generation, request=request, outcome=outcome
    )
    try:
        result = await record_evaluation(report)
    except ActivityError as error:
        lost = lost_games(error)
        if lost is None:
            raise
        await note("evaluation_dropped", generation, lost)
        return None
    if not result.reached or state.target is None:
        return None
    return f"win rate {result.win_rate:.3f} against {state.target.opponent} after generation {generation}"


def _passes(end: GivenUp) -> bool:
    """Whether what went wrong may be gone at the next evaluation."""
    if end.setback.failure is Failure.UNKNOWN and not end.final:
        # the run has seen enough trouble to make room for a new one; this one failure was no reason to give up
        return workflow.patched("drop-evaluations-of-unknown-trouble")
    return not end.final or end.setback.failure is Failure.DAMAGED_CHECKPOINT
