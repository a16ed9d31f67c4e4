"""Leagues go on through a rotation of keys, a key that was missing for a while, and the upgrade that began to seal."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleSpec,
    ScheduleUpdate,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowUpdateFailedError,
)

from orchestrator.contracts import PartRequest, Queue
from orchestrator.contracts.workflows import Mode, Status, StopOrder, TrialState, player_workflow_id
from orchestrator.sealing import workflow_guard
from orchestrator.sealing.codec import ENCODING
from tests.integration.security.sealed_league import (
    LEAGUE_SECRET,
    TRAIN_SECRET,
    Keys,
    address_of,
    fresh,
    serve_sealed,
    start_trial,
    started_event,
    workers_only,
)
from tests.integration.workflows.conftest import eventually, serve_on
from tests.integration.workflows.fake_league import FakeLeague

pytestmark = pytest.mark.asyncio(loop_scope="package")

NEW = Keys(league="a newer secret of the league " * 2, train="a newer secret of train workers " * 2)
BOTH = Keys(league=f"{NEW.league},{LEAGUE_SECRET}", train=f"{NEW.train},{TRAIN_SECRET}")


async def trains_on(league: FakeLeague, generations: int = 2) -> None:
    recorded = len(league.recorded)
    await eventually(lambda: len(league.recorded) >= recorded + generations)


async def test_a_league_goes_on_when_keys_are_rotated(stranger: Client) -> None:
    league = fresh(FakeLeague())
    async with workers_only(address_of(stranger), league, Keys()) as client:
        handle = await start_trial(client, league)
        await trains_on(league)
        await handle.execute_update("pause")
        await eventually(lambda: league.statuses[-1][0] == "paused")
    async with serve_sealed(address_of(stranger), league, BOTH) as client:
        await client.get_workflow_handle(handle.id).execute_update("resume")
        await trains_on(league)
        await client.get_workflow_handle(handle.id).execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await client.get_workflow_handle(handle.id, result_type=Status).result() is Status.STOPPED


async def test_a_league_from_before_sealing_goes_on_and_its_next_runs_are_sealed(stranger: Client) -> None:
    league = fresh(FakeLeague())
    player = player_workflow_id(league.learners[0].player)
    async with serve_on(stranger)(league):
        handle = await start_trial(stranger, league)
        await trains_on(league)
    assert (await started_event(stranger, player)).input.payloads[0].metadata["encoding"] == b"json/plain"
    since = datetime.now(UTC)
    async with serve_sealed(address_of(stranger), league, replace(Keys(), since=since)) as client:
        await trains_on(league, 30)  # beyond the player's next run
        assert (await started_event(stranger, player)).input.payloads[0].metadata["encoding"] == ENCODING
        await client.get_workflow_handle(handle.id).execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await client.get_workflow_handle(handle.id, result_type=Status).result() is Status.STOPPED
        with pytest.raises(WorkflowFailureError):  # a run that begins now is not from before
            await stranger.execute_workflow(
                "TrialWorkflow", TrialState(trial="t"), id=f"trial-{uuid.uuid4()}", task_queue=Queue.LEAGUE
            )


async def test_a_run_from_before_sealing_refuses_what_is_sent_unsealed_after_it(
    stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workflow_guard, "GRACE", timedelta(0))
    league = fresh(FakeLeague(start_paused=True))
    async with serve_on(stranger)(league):
        handle = await start_trial(stranger, league)
        await eventually(lambda: bool(league.statuses) and league.statuses[-1][0] == "paused")
    async with serve_sealed(address_of(stranger), league, replace(Keys(), since=datetime.now(UTC))) as client:
        with pytest.raises(WorkflowUpdateFailedError):
            await handle.execute_update("resume")
        await handle.signal("withdraw", "a plain reason")
        await client.get_workflow_handle(handle.id).execute_update("resume")
        await trains_on(league)
    assert "stopped" not in [status for status, _ in league.statuses]


async def test_schedules_fire_sealed_and_a_strangers_schedule_is_refused(stranger: Client) -> None:
    league = fresh(FakeLeague())
    async with serve_sealed(address_of(stranger), league, Keys()) as client:
        assert await _fire(client, WorkflowExecutionStatus.COMPLETED)
        assert await _fire(stranger, WorkflowExecutionStatus.FAILED)


async def _fire(client: Client, outcome: WorkflowExecutionStatus) -> bool:
    name = f"schedule-{uuid.uuid4().hex}"

    def schedule() -> Schedule:
        action = ScheduleActionStartWorkflow(
            "SystemCheckWorkflow", PartRequest(check="1"), id=name, task_queue=Queue.LEAGUE, memo={"trial": "x"}
        )
        return Schedule(action=action, spec=ScheduleSpec())

    handle = await client.create_schedule(name, schedule())
    await handle.update(lambda _: ScheduleUpdate(schedule=schedule()))
    await handle.trigger()

    async def ended() -> bool:
        found = [run async for run in client.list_workflows(f"WorkflowId STARTS_WITH '{name}-'")]
        return [run.status for run in found] == [outcome]

    await eventually(ended)
    await handle.delete()
    return True
