"""Starting and telling other workflows by their fixed ids; a new run of a workflow holds no handles."""

from __future__ import annotations

from temporalio import workflow
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.tournaments import tournament_workflow_id
    from orchestrator.contracts.workflows import (
        GateState,
        Mode,
        PlayerState,
        Report,
        gate_workflow_id,
        player_workflow_id,
        trial_workflow_id,
    )


async def start_player(state: PlayerState) -> None:
    """Start a player's workflow, unless it runs already. It outlives this run of its trial."""
    await _start("PlayerWorkflow", state, player_workflow_id(state.player))


async def start_gate(state: GateState) -> None:
    """Start a gate's workflow, unless it runs already."""
    await _start("GateWorkflow", state, gate_workflow_id(state.gate))


async def _start(name: str, state: object, workflow_id: str) -> None:
    try:
        await workflow.start_child_workflow(name, state, id=workflow_id, parent_close_policy=ParentClosePolicy.ABANDON)
    except WorkflowAlreadyStartedError:
        workflow.logger.info("already started: %s", workflow_id)


async def tell_trial(trial: str, report: Report) -> None:
    """Report to a trial; one that has ended already needs no report."""
    await _signal(trial_workflow_id(trial), "report", report)


async def tell_player(player: str, mode: Mode) -> None:
    await _signal(player_workflow_id(player), "set_mode", mode)


async def tell_gate_to_stop(gate: str, reason: str) -> bool:
    """Whether there was a workflow to be told."""
    return await _signal(gate_workflow_id(gate), "stop", reason)


async def tell_tournament_to_end(tournament: str, reason: str) -> bool:
    """Whether there was a workflow to be told."""
    return await _signal(tournament_workflow_id(tournament), "cancel", reason)


async def _signal(workflow_id: str, signal: str, message: object) -> bool:
    try:
        await workflow.get_external_workflow_handle(workflow_id).signal(signal, message)
    except ApplicationError as error:
        # the receiver has ended; nothing it could do with the message
        workflow.logger.info("not delivered to %s: %s", workflow_id, error)
        return False
    return True
