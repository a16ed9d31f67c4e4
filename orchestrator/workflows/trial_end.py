"""A trial's end: stops its gates and evaluations, and collects garbage.

See docs/decisions/trials.md.
"""

from __future__ import annotations

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.play import GatesEnd, end_gates
    from orchestrator.contracts.tournaments import EvaluationsEnd, TournamentEnd, end_evaluations, end_tournament
    from orchestrator.contracts.trials import TrialRequest, collect_garbage
    from orchestrator.contracts.workflows import GateState, Mode, Status, TrialState
    from orchestrator.workflows.retries import error_text
    from orchestrator.workflows.signals import cancel_tournament, start_gate, stop_gate_workflow


async def stop_gates(state: TrialState) -> None:
    """Stop the gates of a trial that failed or ended now, so that none promotes; a draining trial lets them finish."""
    if state.mode is not Mode.NOW and state.final is not Status.FAILED:
        return
    for gate in state.gates:
        await stop_gate_workflow(gate, state.reason)
    # also gates that wait behind another trial's, and gates whose workflows have not reported yet
    opened = await end_gates(GatesEnd(trial=state.trial, reason=f"its trial ends: {state.reason}"))
    for following in opened.gates:
        await start_gate(GateState(gate=following.gate, trial=following.trial))


async def stop_evaluations(state: TrialState) -> None:
    """Cancel the evaluations of a trial that ends now; a draining trial lets them finish."""
    reason = f"its trial ends: {state.reason}"
    left = await end_evaluations(EvaluationsEnd(trial=state.trial, now=state.mode is Mode.NOW, reason=reason))
    for tournament in left.tournaments:
        # its workflow rates the games played before it ends; a tournament without a workflow is ended here
        if not await cancel_tournament(tournament, reason):
            await end_tournament(TournamentEnd(tournament=tournament, status="cancelled", reason=reason))


async def collect_trial_garbage(state: TrialState) -> None:
    """Collect garbage; a failure is only logged, because the next trial that ends collects again."""
    try:
        await collect_garbage(TrialRequest(trial=state.trial))
    except ActivityError as error:
        workflow.logger.warning("garbage collection failed: %s", error_text(error))
