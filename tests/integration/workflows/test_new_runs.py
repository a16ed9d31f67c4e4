"""A server that finds histories long calls for new runs, before the workflows' own counts do."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHistory

from orchestrator.contracts import Queue
from orchestrator.contracts.workflows import GateState, Status, gate_workflow_id, player_workflow_id, trial_workflow_id
from orchestrator.workflows import gate, player, trial
from tests.integration.temporal import local_temporal
from tests.integration.workflows.conftest import PATIENCE, Serve, eventually
from tests.integration.workflows.fake_league import FakeLeague

pytestmark = pytest.mark.asyncio(loop_scope="module")

LONG = 60
"""Events of a history for which this server suggests a new run; by default it is 4,096."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def temporal() -> AsyncIterator[Client]:
    limit = ("--dynamic-config-value", f"limit.historyCount.suggestContinueAsNew={LONG}")
    async with await local_temporal(*limit) as environment:
        yield environment.client


async def histories(temporal: Client, workflow_id: str) -> list[WorkflowHistory]:
    """The histories of the workflow's runs, as soon as the server lists an end of each; the newest run comes first."""
    runs: list[WorkflowHistory] = []

    async def all_closed() -> bool:
        listed = [run async for run in temporal.list_workflows(f'WorkflowId = "{workflow_id}"')]
        runs[:] = [await temporal.get_workflow_handle(workflow_id, run_id=run.run_id).fetch_history() for run in listed]
        return bool(runs) and all(run.close_time is not None for run in listed) and not _continued(runs[0])

    await eventually(all_closed)
    return runs


async def test_a_gate_goes_on_in_a_new_run_when_the_server_suggests_it(serve: Serve, temporal: Client) -> None:
    key, batches = f"g{uuid.uuid4().hex[:8]}", 20
    assert batches < gate.BATCHES_PER_RUN, "its own count calls for no new run"
    league = FakeLeague(gates={key: batches}, generation_seconds=0)
    async with serve(league):
        handle = await temporal.start_workflow(
            "GateWorkflow", GateState(gate=key), id=gate_workflow_id(key), task_queue=Queue.LEAGUE, result_type=str
        )
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "passed"
        runs = await histories(temporal, gate_workflow_id(key))
    assert league.calls["play_games"] == batches, "no batch is played twice"
    check_runs(runs)


async def test_a_player_and_its_trial_go_on_in_new_runs_when_the_server_suggests_it(
    begin: Callable, temporal: Client
) -> None:
    league = FakeLeague(budget_steps=10 * 15)
    async with begin(league) as handle:
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED
        (learner,) = league.learners
        players = await histories(temporal, player_workflow_id(learner.player))
        trials = await histories(temporal, trial_workflow_id(league.trial))
    generations = [generation for _, generation in league.recorded]
    assert generations == list(range(1, len(generations) + 1)), "each generation once, in order"
    assert len(generations) < player.GENERATIONS_PER_RUN < trial.REPORTS_PER_RUN
    check_runs(players)
    check_runs(trials)


def check_runs(runs: list[WorkflowHistory]) -> None:
    """Each run but the last ended for its length, and says so by the patch's marker."""
    assert len(runs) >= 2
    assert sum(map(_continued, runs)) == len(runs) - 1
    for run in runs:
        marked = any(event.event_type == EventType.EVENT_TYPE_MARKER_RECORDED for event in run.events)
        if _continued(run):
            assert len(run.events) >= LONG and marked


def _continued(run: WorkflowHistory) -> bool:
    return bool(run.events[-1].event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW)
