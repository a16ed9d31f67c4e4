"""Rolling upgrades: builds of the workers side by side while a league runs, and which of them gets its tasks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from api.worker import WORKFLOWS
from orchestrator.contracts import Queue
from orchestrator.contracts.trials import Learner
from orchestrator.contracts.workflows import Mode, Status, StopOrder, TrialState, trial_workflow_id
from orchestrator.settings import SettingsError, TemporalSettings
from orchestrator.temporal import deployment as deployments
from orchestrator.temporal.deployment import Deployment, NotPromoted, promote, settle
from tests.integration.workflows.conftest import PATIENCE, eventually
from tests.integration.workflows.fake_league import FakeLeague

pytestmark = pytest.mark.asyncio(loop_scope="package")

QUEUES = {"store": (Queue.LEAGUE, Queue.STORE), "train": (Queue.TRAIN, Queue.PLAY, Queue.INTERACTIVE)}


def build(name: str, *, promotes: bool = False) -> TemporalSettings:
    """Settings of the workers of one build; without a name they are in no deployment."""
    deployment = "leagues" if name else ""
    return TemporalSettings(temporal_deployment=deployment, temporal_build_id=name, temporal_promote=promotes)


@asynccontextmanager
async def serving(temporal: Client, league: FakeLeague, settings: TemporalSettings, *roles: str) -> AsyncIterator[None]:
    """The workers of these roles, as the processes of a build make them."""
    async with AsyncExitStack() as stack:
        for role in roles or tuple(QUEUES):
            mine = Deployment.of(settings, role)
            for queue in QUEUES[role]:
                leads = queue is Queue.LEAGUE
                worker = Worker(
                    temporal,
                    task_queue=queue,
                    workflows=WORKFLOWS if leads else [],
                    activities=[] if leads else league.activities(),
                    workflow_runner=UnsandboxedWorkflowRunner(),
                    deployment_config=mine.config(workflows=leads) if mine else None,
                )
                await stack.enter_async_context(worker)
            await settle(temporal, settings, role)
        yield


def league(trial: str) -> FakeLeague:
    return FakeLeague(
        trial=trial, learners=[Learner(player=f"p-{trial}", name="main", role=FakeLeague().learners[0].role)]
    )


async def goes_on(here: FakeLeague) -> None:
    recorded = len(here.recorded)
    await eventually(lambda: len(here.recorded) >= recorded + 2)


async def test_a_league_moves_from_build_to_build(temporal: Client) -> None:
    """Begun without a deployment, continued by build a, then by b beside it, and at last without a deployment again."""
    trial = "rolling"
    old, first, second = league(trial), league(trial), league(trial)
    handle = await temporal.start_workflow(
        "TrialWorkflow",
        TrialState(trial=trial),
        id=trial_workflow_id(trial),
        task_queue=Queue.LEAGUE,
        result_type=Status,
    )
    async with serving(temporal, old, build("")):
        await goes_on(old)
    async with serving(temporal, first, build("a")):
        await goes_on(first)
        async with serving(temporal, second, build("b")):
            await goes_on(first)
            assert not second.recorded and not second.trained, "a stays current until somebody promotes b"
            for role in ("train", "store"):
                await promote(temporal, Deployment(name=f"leagues-{role}", build_id="b"))
                await eventually(lambda: bool(second.trained))
            await goes_on(second)
            # what was under way at the change has ended; a gets nothing new
            trained, recorded = len(first.trained), len(first.recorded)
            await goes_on(second)
            assert (len(first.trained), len(first.recorded)) == (trained, recorded)
    with pytest.raises(
        SettingsError, match=r"go only to build 'b' .*Set it to 'leagues', or run `lanista worker promote"
    ):
        async with serving(temporal, old, build("")):
            pass
    async with serving(temporal, old, build("", promotes=True)):
        await goes_on(old)
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW), result_type=Status)
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED


async def test_the_workers_of_a_stack_take_over_when_they_start(temporal: Client) -> None:
    idle = league("takes-over")
    async with (
        serving(temporal, idle, build("c"), "train"),
        serving(temporal, idle, build("d", promotes=True), "train"),
    ):
        described = await deployments._wait_until_known(temporal, Deployment(name="leagues-train", build_id="d"))
        assert described.routing_config.current_deployment_version.build_id == "d"
    async with serving(temporal, idle, build("", promotes=True), "train"):
        pass


async def test_a_build_without_workers_is_not_promoted(temporal: Client) -> None:
    with pytest.raises(NotPromoted, match=r"tasks wait until one is: .* The server says"):
        await promote(temporal, Deployment(name="nobody-train", build_id="e"), patience=0.1)
