"""Starts and signals other workflows by their fixed ids; a new run of a workflow has no handles to its children."""

from __future__ import annotations

from dataclasses import replace

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.sweeps import SweepReport, sweep_workflow_id
    from orchestrator.contracts.tournaments import TournamentState, tournament_workflow_id
    from orchestrator.contracts.workflow_labels import WorkflowLabels, summary_line
    from orchestrator.contracts.workflows import (
        GateState,
        Mode,
        PlayerState,
        Report,
        StopOrder,
        TrialState,
        gate_workflow_id,
        player_workflow_id,
        trial_workflow_id,
    )
    from orchestrator.workflows.own_labels import child_attributes, own_labels

PENDING, RUNNING = "pending", "running"


async def start_trial(trial: str, *, name: str) -> None:
    """Start the workflow of a sweep's trial, unless it was started before. It outlives this run of the sweep."""
    labels = replace(own_labels(), trial=name, trial_id=trial, sweep="")
    state, workflow_id = TrialState(trial=trial), trial_workflow_id(trial)
    # a trial that has ended is not started again
    once = WorkflowIDReusePolicy.REJECT_DUPLICATE
    await _start("TrialWorkflow", state, workflow_id, labels, "trial", PENDING, once)


async def order_trial(trial: str, order: StopOrder) -> bool:
    """Send a trial the order of its sweep; False if the trial has ended."""
    return await _signal(trial_workflow_id(trial), "follow_sweep", order)


async def report_to_sweep(sweep: str, report: SweepReport) -> None:
    """Send a report to a sweep; one that has ended needs none."""
    await _signal(sweep_workflow_id(sweep), "report", report)


async def start_player(state: PlayerState) -> None:
    """Start a player's workflow, unless it runs already. It outlives this run of its trial."""
    labels = replace(own_labels(), player=state.name, role=state.role.value)
    await _start("PlayerWorkflow", state, player_workflow_id(state.player), labels)


async def start_gate(state: GateState, *, player: str = "") -> None:
    """Start a gate's workflow, unless it runs already; `player` is the candidate's name, where it is known."""
    own = own_labels()
    labels = WorkflowLabels(project=own.project, trial_id=state.trial, player=player)
    if state.trial == own.trial_id:  # a gate that follows in its alias may belong to another trial
        labels = replace(labels, trial=own.trial)
    await _start("GateWorkflow", state, gate_workflow_id(state.gate), labels, "gate", RUNNING)


async def start_tournament(tournament: str, *, name: str = "") -> None:
    """Start a tournament's workflow, unless it runs already. It outlives this workflow."""
    labels = replace(own_labels(), player="", role="", tournament=name)
    state = TournamentState(tournament=tournament)
    await _start("TournamentWorkflow", state, tournament_workflow_id(tournament), labels, "tournament", RUNNING)


async def _start(
    workflow_type: str,
    state: object,
    workflow_id: str,
    labels: WorkflowLabels,
    what: str = "",
    status: str = "",
    reuse: WorkflowIDReusePolicy = WorkflowIDReusePolicy.ALLOW_DUPLICATE,
) -> None:
    try:
        await workflow.start_child_workflow(
            workflow_type,
            state,
            id=workflow_id,
            parent_close_policy=ParentClosePolicy.ABANDON,
            id_reuse_policy=reuse,
            memo=labels.memo,
            search_attributes=child_attributes(labels, status),
            static_summary=summary_line(f"{what} {labels.summary}"),
        )
    except WorkflowAlreadyStartedError:
        workflow.logger.info("already started: %s", workflow_id)


async def report_to_trial(trial: str, report: Report) -> None:
    """Send a report to a trial; one that has ended needs none."""
    await _signal(trial_workflow_id(trial), "report", report)


async def set_player_mode(player: str, mode: Mode) -> bool:
    """Send a player the mode that its trial wants; False if its workflow has ended or never started."""
    return await _signal(player_workflow_id(player), "set_mode", mode)


async def stop_gate_workflow(gate: str, reason: str) -> bool:
    """Stop a gate early; False if its workflow has ended or never started."""
    return await _signal(gate_workflow_id(gate), "stop", reason)


async def cancel_tournament(tournament: str, reason: str) -> bool:
    """Cancel a tournament; False if its workflow has ended or never started."""
    return await _signal(tournament_workflow_id(tournament), "cancel", reason)


async def _signal(workflow_id: str, signal: str, message: object) -> bool:
    try:
        await workflow.get_external_workflow_handle(workflow_id).signal(signal, message)
    except ApplicationError as error:
        # the receiver has ended and could do nothing with the message
        workflow.logger.info("not delivered to %s: %s", workflow_id, error)
        return False
    return True
