"""A trial's end: what becomes of its gates and evaluations, and of the files that nothing refers to."""

from __future__ import annotations

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.play import GatesEnd, end_gates
    from orchestrator.contracts.tournaments import EvaluationsEnd, TournamentEnd, end_evaluations, end_tournament
    from orchestrator.contracts.trials import TrialRequest, collect_garbage
    from orchestrator.contracts.workflows import GateState, Mode, Status, TrialState
    from orchestrator.workflows.retries import words_of
    from orchestrator.workflows.signals import start_gate, tell_gate_to_stop, tell_tournament_to_end


async def give_up_gates(state: TrialState) -> None:
    """Let no gate promote anybody after its trial has failed or was ended at once; when it drains, all get a turn."""
    if state.mode is not Mode.NOW and state.final is not Status.FAILED:
        return
    for gate in state.gates:
        await tell_gate_to_stop(gate, state.reason)
    # those that wait behind another trial's gate, and those whose workflows have not said that they opened
    opened = await end_gates(GatesEnd(trial=state.trial, reason=f"its trial ends: {state.reason}"))
    for each in opened.gates:
        await start_gate(GateState(gate=each.gate, trial=each.trial))


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
