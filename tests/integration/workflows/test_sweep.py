"""A sweep's workflow: starts its trial, sends it the store's orders, hears of rungs, and ends with it."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest
from temporalio.client import Client, WorkflowExecution, WorkflowHandle

from league.types import Role
from orchestrator.contracts.queues import Queue
from orchestrator.contracts.sweeps import SweepState, sweep_workflow_id
from orchestrator.contracts.trials import Learner
from orchestrator.contracts.workflows import Mode, Status, StopOrder, trial_workflow_id
from orchestrator.workflows import sweep as sweep_module
from tests.integration.workflows.conftest import PATIENCE, Serve, eventually
from tests.integration.workflows.fake_sweep import FakeSweep

pytestmark = pytest.mark.asyncio(loop_scope="module")


def a_sweep(**options: Any) -> FakeSweep:
    """Ids of its own: all tests share a server."""
    name = uuid.uuid4().hex[:8]
    sweep = FakeSweep(trial=f"first-{name}", sweep=f"swept-{name}", **options)
    sweep.league.learners = [Learner(player=f"main-{name}", name="main", role=Role.MAIN)]
    return sweep


async def started(temporal: Client, sweep: FakeSweep) -> WorkflowHandle[Any, Any]:
    return await temporal.start_workflow(
        "SweepWorkflow", SweepState(sweep=sweep.sweep), id=sweep_workflow_id(sweep.sweep), task_queue=Queue.LEAGUE
    )


async def trains(sweep: FakeSweep) -> None:
    async with asyncio.timeout(PATIENCE):
        while not sweep.league.recorded:
            await asyncio.sleep(0.05)


async def test_a_trial_is_paused_resumed_and_stopped_early_by_its_sweep(temporal: Client, serve: Serve) -> None:
    sweep = a_sweep()
    async with serve(sweep.league, *sweep.activities()):
        handle = await started(temporal, sweep)
        await sweep.drive(handle)
        assert await handle.result() == "completed"
        trial = await temporal.get_workflow_handle(trial_workflow_id(sweep.trial), result_type=Status).result()
    assert trial is Status.STOPPED
    words = [status for status, _ in sweep.league.statuses]
    assert words == ["running", "pausing", "paused", "running", "stopping", "stopped"]
    assert sweep.league.statuses[-1][1] == "now by its sweep"
    assert [change.status for change in sweep.changes] == ["paused", "running"]
    assert all(change.order for change in sweep.changes), "the API finds the effect of its orders"


async def test_a_trial_tells_its_sweep_of_rungs_and_of_its_end(temporal: Client, serve: Serve) -> None:
    sweep = a_sweep(stops_early=False)
    sweep.league.budget_steps = 50
    async with serve(sweep.league, *sweep.activities()):
        handle = await started(temporal, sweep)
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "completed"
    # at the start, for both rungs and for the end; the timer of 30 s alone would wake it up far less often
    assert len(sweep.asked) >= 4
    assert sweep.league.statuses[-1][0] == "completed"


async def test_a_stop_of_the_sweep_ends_its_trial(temporal: Client, serve: Serve) -> None:
    sweep = a_sweep(stops_early=False)
    async with serve(sweep.league, *sweep.activities()):
        handle = await started(temporal, sweep)
        await trains(sweep)
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW, reason="enough"))
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "stopped"
    assert sweep.league.statuses[-1][0] == "stopped"
    assert sweep.changes[-1].reason == "enough"


async def test_a_cancelled_sweep_ends_its_trial_first(temporal: Client, serve: Serve) -> None:
    sweep = a_sweep(stops_early=False)
    async with serve(sweep.league, *sweep.activities()):
        handle = await started(temporal, sweep)
        await trains(sweep)
        await handle.cancel()
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "stopped"
    assert sweep.league.statuses[-1][0] == "stopped"
    assert sweep.changes[-1].reason == "its workflow was cancelled"


async def test_a_trial_that_somebody_stops_does_not_end_the_sweep_with_an_error(temporal: Client, serve: Serve) -> None:
    sweep = a_sweep(stops_early=False)
    async with serve(sweep.league, *sweep.activities()):
        handle = await started(temporal, sweep)
        await trains(sweep)
        trial = temporal.get_workflow_handle(trial_workflow_id(sweep.trial))
        await trial.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "completed"
    assert not sweep.ended[0].failure


async def test_a_sweep_of_many_plans_goes_on_in_new_runs(
    temporal: Client, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_module, "STEPS_PER_RUN", 3)
    sweep = a_sweep()
    async with serve(sweep.league, *sweep.activities()):
        handle = await started(temporal, sweep)
        await sweep.drive(handle)
        assert await handle.result() == "completed"
        assert sweep.league.calls["begin_trial"] == 1, "its trial went on meanwhile"
    assert len(sweep.asked) > 3
    runs: list[WorkflowExecution] = []

    async def all_are_listed() -> bool:
        """Temporal lists what happened a little later; a run that goes on has no length yet."""
        query = f'WorkflowId = "{sweep_workflow_id(sweep.sweep)}"'
        runs[:] = [run async for run in temporal.list_workflows(query)]
        return len(runs) > 1 and all(run.close_time is not None for run in runs)

    await eventually(all_are_listed)
    assert max(run.history_length for run in runs) < 150


async def test_a_sweep_stopped_while_its_trial_is_launched_ends(temporal: Client, serve: Serve) -> None:
    sweep = a_sweep(stops_early=False)
    sweep.league.weights_seconds = 60
    async with serve(sweep.league, *sweep.activities()):
        handle = await started(temporal, sweep)
        await eventually(lambda: sweep.league.calls["make_initial_weights"] == 1)
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW, reason="enough"))
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "stopped"
    assert [status for status, _ in sweep.league.statuses] == ["stopping", "stopped"]
    assert sweep.league.calls["train_generation"] == 0
