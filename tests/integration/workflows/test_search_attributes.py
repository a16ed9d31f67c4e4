"""Leagues in Temporal's Web UI: by name where the search attributes are registered, by memo where they are not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio
from temporalio.client import Client, WorkflowExecution
from temporalio.service import RPCError, RPCStatusCode

from league.types import Role
from orchestrator.contracts import Queue
from orchestrator.contracts.trials import Learner
from orchestrator.contracts.workflow_labels import PLAYER, PROJECT, ROLE, STATUS, TRIAL, WorkflowLabels
from orchestrator.contracts.workflows import (
    Mode,
    Status,
    StopOrder,
    TrialState,
    gate_workflow_id,
    player_workflow_id,
    trial_workflow_id,
)
from orchestrator.search_attributes import (
    SearchAttributeCheck,
    missing_search_attributes,
    register_search_attributes,
)
from tests.integration.temporal import local_temporal
from tests.integration.workflows.conftest import Serve, eventually, serve_on
from tests.integration.workflows.fake_league import FakeLeague


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def registered(temporal: Client) -> AsyncIterator[Client]:
    assert await register_search_attributes(temporal)
    yield temporal


def league_of(trial: str) -> FakeLeague:
    gate = f"gate-of-{trial}"
    return FakeLeague(
        trial=trial,
        learners=[Learner(player=f"p-{trial}", name="main", role=Role.MAIN)],
        gates={gate: 1},
        gate_of_generation={1: gate},
    )


async def start(client: Client, league: FakeLeague) -> Any:
    labels = WorkflowLabels(project="arena", trial=f"name-of-{league.trial}", trial_id=league.trial)

    async def send(attributes: Any) -> Any:
        return await client.start_workflow(
            "TrialWorkflow",
            TrialState(trial=league.trial),
            id=trial_workflow_id(league.trial),
            task_queue=Queue.LEAGUE,
            result_type=Status,
            memo=labels.memo,
            search_attributes=attributes,
            static_summary=labels.summary,
        )

    return await SearchAttributeCheck(client).call(labels.search_attributes("pending"), send)


async def found(client: Client, query: str) -> dict[str, WorkflowExecution]:
    return {each.id: each async for each in client.list_workflows(query)}


async def test_registering_twice_is_harmless(registered: Client) -> None:
    assert await missing_search_attributes(registered) == []
    assert await register_search_attributes(registered)
    assert await asyncio.gather(*(register_search_attributes(registered) for _ in range(3))) == [True] * 3


async def test_a_league_is_found_by_name_and_status(registered: Client, serve: Serve) -> None:
    league = league_of("listed")
    trial, player, gate = (
        trial_workflow_id("listed"),
        player_workflow_id("p-listed"),
        gate_workflow_id("gate-of-listed"),
    )
    async with serve(league):
        handle = await start(registered, league)

        async def listed() -> bool:
            return set(await found(registered, "LanistaTrial = 'name-of-listed'")) == {trial, player, gate}

        await eventually(listed)

        async def runs() -> bool:
            return trial in await found(registered, "LanistaProject = 'arena' AND LanistaStatus = 'running'")

        await eventually(runs)
        await handle.execute_update("pause")

        async def paused() -> bool:
            return trial in await found(registered, "LanistaTrial = 'name-of-listed' AND LanistaStatus = 'paused'")

        await eventually(paused)
        members = await found(registered, "LanistaPlayer = 'main' AND LanistaRole = 'main'")
        assert set(members) == {player}
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await handle.result() is Status.STOPPED
    described = await handle.describe()
    assert described.typed_search_attributes[STATUS] == "stopped"
    assert await described.static_summary() == "arena/name-of-listed"
    child = await registered.get_workflow_handle(player).describe()
    attributes = child.typed_search_attributes
    assert [attributes[key] for key in (PROJECT, TRIAL, PLAYER, ROLE)] == ["arena", "name-of-listed", "main", "main"]
    assert await child.static_summary() == "arena/name-of-listed: main (main)"
    assert (await child.memo())["trial_id"] == "listed"
    ended = await registered.get_workflow_handle(gate).describe()
    assert ended.typed_search_attributes[STATUS] in ("passed", "invalid")


async def test_a_league_without_registered_attributes_has_memos_and_summaries(serve_elsewhere: Any) -> None:
    client, serve = serve_elsewhere
    assert len(await missing_search_attributes(client)) == 5
    league = league_of("plain")
    async with serve(league):
        handle = await start(client, league)
        await eventually(lambda: bool(league.recorded))
        await handle.execute_update("stop", StopOrder(mode=Mode.DRAIN))
        assert await handle.result() is Status.STOPPED
    for workflow_id in (trial_workflow_id("plain"), player_workflow_id("p-plain")):
        described = await client.get_workflow_handle(workflow_id).describe()
        assert (await described.memo())["trial"] == "name-of-plain"
        assert not [pair for pair in described.typed_search_attributes if pair.key.name.startswith("Lanista")]
        assert str(await described.static_summary()).startswith("arena/name-of-plain")


async def test_a_start_that_is_refused_for_its_attributes_is_repeated_without(serve_elsewhere: Any) -> None:
    client, _ = serve_elsewhere
    check = SearchAttributeCheck(client)
    check._usable = True  # as where the server does not let us look
    labels = WorkflowLabels(project="arena", trial="refused")

    async def send(attributes: Any) -> Any:
        return await client.start_workflow(
            "TrialWorkflow",
            TrialState(trial="refused"),
            id=trial_workflow_id("refused"),
            task_queue=Queue.LEAGUE,
            search_attributes=attributes,
        )

    handle = await check.call(labels.search_attributes("pending"), send)
    assert not await check.usable(), "they are left out of the next starts too"
    await handle.terminate()


async def test_without_the_permission_registering_is_a_warning(temporal: Client) -> None:
    class Denied:
        namespace = "default"

        class operator_service:
            @staticmethod
            async def list_search_attributes(*_: Any, **__: Any) -> None:
                raise RPCError("no", RPCStatusCode.PERMISSION_DENIED, b"")

    assert await register_search_attributes(Denied()) is False  # type: ignore[arg-type]
    assert await SearchAttributeCheck(Denied()).usable(), "they are tried all the same"  # type: ignore[arg-type]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def elsewhere() -> AsyncIterator[Client]:
    """A server on which nobody has registered anything."""
    async with await local_temporal() as environment:
        yield environment.client


@pytest_asyncio.fixture(loop_scope="module")
async def serve_elsewhere(elsewhere: Client) -> AsyncIterator[Any]:
    yield elsewhere, serve_on(elsewhere)
