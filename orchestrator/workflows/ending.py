"""A trial's end: what becomes of its evaluations, and of the files that nothing refers to."""

from __future__ import annotations

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.tournaments import EvaluationsEnd, TournamentEnd, end_evaluations, end_tournament
    from orchestrator.contracts.trials import TrialRequest, collect_garbage
    from orchestrator.contracts.workflows import Mode, TrialState
    from orchestrator.workflows.attempts import words_of
    from orchestrator.workflows.messages import tell_tournament_to_end


async def give_up_evaluations(state: TrialState) -> None:
    """Cancel the trial's evaluations when it ends at once; when it drains, those under way are played out."""
    reason = f"its trial ends: {state.reason}"
    left = await end_evaluations(EvaluationsEnd(trial=state.trial, now=state.mode is Mode.NOW, reason=reason))
    for tournament in left.tournaments:
        # told, it rates what was played before it ends; one that has no workflow is ended from here
        if not await tell_tournament_to_end(tournament, reason):
            await end_tournament(TournamentEnd(tournament=tournament, status="cancelled", reason=reason))


async def leave_no_garbage(state: TrialState) -> None:
    """Collect what nothing refers to; a courtesy: whatever trial ends next collects again."""
    try:
        await collect_garbage(TrialRequest(trial=state.trial))
    except ActivityError as error:
        workflow.logger.warning("garbage was left: %s", words_of(error))
