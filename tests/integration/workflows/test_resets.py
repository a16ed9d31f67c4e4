"""Workflows that somebody resets (`temporal workflow reset`): the league goes on, and a stop still ends it."""

from __future__ import annotations

import asyncio
import uuid

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowExecutionStatus

from orchestrator.contracts.workflows import (
    Mode,
    Status,
    StopOrder,
    gate_workflow_id,
    player_workflow_id,
    trial_workflow_id,
)
from tests.integration.security.sealed_league import (
    Keys,
    address_of,
    events_of,
    fresh,
    running_league,
    serve_sealed,
    start_trial,
)
from tests.integration.workflows.conftest import PATIENCE, eventually
from tests.integration.workflows.fake_league import FakeLeague

pytestmark = pytest.mark.asyncio(loop_scope="module")

FINISHED = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED


async def reset(temporal: Client, workflow_id: str, *, to_task: int) -> None:
    """Go back to before the workflow task with this place among those of the present run."""
    tasks = [event.event_id for event in await events_of(temporal, workflow_id) if event.event_type == FINISHED]
    await temporal.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=temporal.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id),
            reason="a test",
            workflow_task_finish_event_id=tasks[to_task],
            request_id=uuid.uuid4().hex,
        )
    )


async def test_a_player_that_is_reset_goes_on(temporal: Client) -> None:
    league = fresh(FakeLeague())
    player = league.learners[0].player
    async with running_league(address_of(temporal), league):
        await eventually(lambda: len(league.recorded) >= 3)
        before = league.recorded[-1][1]
        await reset(temporal, player_workflow_id(player), to_task=2)
        # generations since that task are delivered again, which the store takes for the same
        await eventually(lambda: league.recorded[-1][1] > before)


async def test_a_generation_under_way_survives_the_reset_of_its_player(temporal: Client) -> None:
    league = fresh(FakeLeague())
    async with serve_sealed(address_of(temporal), league, Keys()) as client:
        trial = await start_trial(client, league)
        await eventually(lambda: len(league.recorded) >= 1)
        league.generation_seconds = PATIENCE
        await eventually(lambda: league.training_now == 1)
        await trial.execute_update("pause", result_type=Status)  # a workflow task while the generation is under way
        await trial.execute_update("resume", result_type=Status)
        begun = len(league.trained)
        await reset(temporal, player_workflow_id(league.learners[0].player), to_task=-1)
        await eventually(lambda: len(league.trained) > begun)
        league.generation_seconds = 0.02
        recorded = len(league.recorded)
        await eventually(lambda: len(league.recorded) > recorded + 1)
        assert Status.FAILED not in [status for status, _ in league.statuses]
        await trial.execute_update("stop", StopOrder(mode=Mode.NOW), result_type=Status)
        assert await asyncio.wait_for(trial.result(), PATIENCE) is Status.STOPPED


async def test_a_trial_that_is_reset_finds_its_players_again(temporal: Client) -> None:
    league = fresh(FakeLeague())
    async with serve_sealed(address_of(temporal), league, Keys()) as client:
        await start_trial(client, league)
        await eventually(lambda: len(league.recorded) >= 3)
        await reset(temporal, trial_workflow_id(league.trial), to_task=1)
        recorded = len(league.recorded)
        await eventually(lambda: len(league.recorded) >= recorded + 3)
        anew = client.get_workflow_handle(trial_workflow_id(league.trial), result_type=Status)
        await anew.execute_update("stop", StopOrder(mode=Mode.NOW), result_type=Status)
        assert await asyncio.wait_for(anew.result(), PATIENCE) is Status.STOPPED
        player = client.get_workflow_handle(player_workflow_id(league.learners[0].player))
        assert (await player.describe()).status is WorkflowExecutionStatus.COMPLETED


async def test_a_gate_that_is_reset_ends_and_its_trial_with_it(temporal: Client) -> None:
    league = fresh(FakeLeague(budget_steps=30))
    gate = f"g-{league.trial}"
    league.gates, league.gate_of_generation = {gate: 1_000}, {1: gate}
    async with serve_sealed(address_of(temporal), league, Keys()) as client:
        trial = await start_trial(client, league)
        await eventually(lambda: league.gates[gate] <= 997)
        await reset(temporal, gate_workflow_id(gate), to_task=1)
        left = league.gates[gate]
        await eventually(lambda: league.gates[gate] <= left - 3)
        league.gates[gate] = 1
        assert await asyncio.wait_for(trial.result(), PATIENCE) is Status.COMPLETED
        assert league.gates[gate] == 0
