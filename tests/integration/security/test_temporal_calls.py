"""A stranger without a key reaches Temporal's port, as every local user can: their starts, signals and updates fail."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from league.types import Role
from orchestrator.contracts import Queue
from orchestrator.contracts.trials import Learner
from orchestrator.contracts.workflows import (
    Mode,
    NewPlayer,
    Report,
    ReportKind,
    StopOrder,
    TrialState,
    player_workflow_id,
)
from orchestrator.sealing.codec import ENCODING
from tests.integration.security.sealed_league import (
    Keys,
    address_of,
    events_of,
    fresh,
    running_league,
    serve_sealed,
    started_event,
    with_headers,
)
from tests.integration.workflows.conftest import eventually
from tests.integration.workflows.fake_league import FakeLeague

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_sealed_league_pauses_and_goes_on_and_its_histories_hold_nothing_plain(stranger: Client) -> None:
    league = fresh(FakeLeague())
    async with running_league(address_of(stranger), league) as handle:
        await handle.execute_update("pause")
        await eventually(lambda: league.statuses[-1][0] == "paused")
        await handle.execute_update("resume")
        assert (await handle.query("live"))["status"] == "running"
    encodings = set()
    for workflow_id in (handle.id, player_workflow_id(league.learners[0].player)):
        for event in await events_of(stranger, workflow_id):
            kind = EventType.Name(event.event_type).removeprefix("EVENT_TYPE_").lower()
            attributes = getattr(event, f"{kind}_event_attributes")
            for field in ("input", "result", "details"):
                if field in attributes.DESCRIPTOR.fields_by_name and kind != "marker_recorded":
                    encodings |= {each.metadata["encoding"] for each in getattr(attributes, field).payloads}
    assert encodings == {ENCODING}


@pytest.mark.parametrize("arguments", [[TrialState(trial="forged")], []], ids=["plain", "no arguments"])
async def test_a_start_is_refused_for_good(stranger: Client, arguments: list[TrialState]) -> None:
    league = fresh(FakeLeague())
    async with serve_sealed(address_of(stranger), league, Keys()):
        with pytest.raises(WorkflowFailureError) as refused:
            await stranger.execute_workflow(
                "TrialWorkflow", args=arguments, id=f"trial-{uuid.uuid4()}", task_queue=Queue.LEAGUE
            )
    assert isinstance(refused.value.cause, ApplicationError)
    assert (refused.value.cause.type, refused.value.cause.non_retryable) == ("not_sealed", True)
    assert not league.calls


@pytest.mark.parametrize("target", ["another workflow", "another kind", "a firing of it"])
async def test_a_copied_start_is_refused_elsewhere(stranger: Client, target: str) -> None:
    """Argument and stamp are a trial's own; only its id, or its type, is another. A trial's id fires as no schedule."""
    league = fresh(FakeLeague())
    async with running_league(address_of(stranger), league) as handle:
        copied = await started_event(stranger, handle.id)
        kind = "PlayerWorkflow" if target == "another kind" else "TrialWorkflow"
        copy = f"{handle.id}-2030-01-01T00:00:00Z" if target == "a firing of it" else f"copy-{uuid.uuid4()}"
        before = dict(league.calls)
        with pytest.raises(WorkflowFailureError) as refused:
            await with_headers(stranger, copied.header.fields).execute_workflow(
                kind,
                args=[RawValue(copied.input.payloads[0])],
                id=copy,
                task_queue=Queue.LEAGUE,
                execution_timeout=timedelta(seconds=20),  # of a copy that runs: then the cause is another one
            )
        assert isinstance(refused.value.cause, ApplicationError)
        assert refused.value.cause.type == "not_sealed"
        assert league.calls["begin_trial"] == before["begin_trial"]


async def test_signals_are_dropped_and_the_league_goes_on(stranger: Client) -> None:
    league = fresh(FakeLeague())
    async with running_league(address_of(stranger), league) as handle:
        victim = stranger.get_workflow_handle(handle.id)
        failed = Report(happening=ReportKind.FAILED, sender=league.learners[0].player, detail="a lie")
        await victim.signal("report", failed)
        await victim.signal("withdraw", "a plain reason")
        await victim.signal("withdraw")
        # sealed for this very workflow, but the start's argument; and with the start's stamp
        copied = await started_event(stranger, handle.id)
        argument = RawValue(copied.input.payloads[0])
        await victim.signal("withdraw", argument)
        await with_headers(stranger, copied.header.fields).get_workflow_handle(handle.id).signal("withdraw", argument)
        player = stranger.get_workflow_handle(player_workflow_id(league.learners[0].player))
        await player.signal("set_mode", Mode.NOW)
    assert [status for status, _ in league.statuses] == ["running", "stopping", "stopped"], "as the operator asked"


async def test_a_copied_signal_is_dropped_by_another_workflow(stranger: Client) -> None:
    """The signal that paused one player, with its stamp, is sent to another one."""
    learners = [Learner(player=name, name=name, role=Role.MAIN) for name in ("first", "second")]
    league = fresh(FakeLeague(learners=learners))
    first, second = (each.player for each in league.learners)
    async with running_league(address_of(stranger), league) as handle:
        await handle.execute_update("pause")
        await eventually(lambda: league.statuses[-1][0] == "paused")
        await handle.execute_update("resume")
        events = await events_of(stranger, player_workflow_id(first))
        signals = [event.workflow_execution_signaled_event_attributes for event in events]
        copied = next(each for each in signals if each.signal_name == "set_mode")
        victim = with_headers(stranger, copied.header.fields).get_workflow_handle(player_workflow_id(second))
        before = max(generation for player, generation in league.recorded if player == second)
        await victim.signal("set_mode", RawValue(copied.input.payloads[0]))
        await eventually(lambda: (second, before + 3) in league.recorded)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("pause", []),
        ("stop", [StopOrder(mode=Mode.NOW)]),
        ("add_player", [NewPlayer(key="k", name="evil", role=Role.BOT, bot="os:system")]),
    ],
)
async def test_updates_are_rejected(stranger: Client, name: str, arguments: list[object]) -> None:
    league = fresh(FakeLeague())
    async with running_league(address_of(stranger), league) as handle:
        with pytest.raises(WorkflowUpdateFailedError) as refused:
            await stranger.get_workflow_handle(handle.id).execute_update(name, args=arguments)
        assert isinstance(refused.value.cause, ApplicationError)
        assert refused.value.cause.type == "not_sealed"
        assert league.calls["add_player"] == 0
        assert league.statuses[-1][0] == "running"


async def test_the_stamp_of_an_update_is_for_one_id(stranger: Client) -> None:
    league = fresh(FakeLeague())
    async with running_league(address_of(stranger), league) as handle:
        await handle.execute_update("pause", id="asked")
        await eventually(lambda: league.statuses[-1][0] == "paused")
        await handle.execute_update("resume")
        events = await events_of(stranger, handle.id)
        accepted = [event.workflow_execution_update_accepted_event_attributes.accepted_request for event in events]
        stamp = next(each.input.header.fields for each in accepted if each.input.name == "pause")
        with pytest.raises(WorkflowUpdateFailedError):
            await with_headers(stranger, stamp).get_workflow_handle(handle.id).execute_update("pause", id="again")
        assert league.statuses[-1][0] == "running"
