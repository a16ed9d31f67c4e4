"""Record histories for the replay tests into a new folder: `python -m tests.replay.record FOLDER`.

`python -m tests.replay.record --sealed` records a league that seals into `sealed`, where a file has the name of its
workflow's id: seals are bound to it.

Record when workflows have changed, and before a release; name the folder for the change. Recorded histories are never
written again: one that no longer replays means that a running league would break on upgrade.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.worker import Worker

from api.worker import WORKFLOWS, sandbox
from league.types import Role
from orchestrator.contracts import PartRequest, Queue
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.probes import ProbeState, probe_workflow_id
from orchestrator.contracts.sweeps import SweepState, sweep_workflow_id
from orchestrator.contracts.tournaments import TournamentState
from orchestrator.contracts.trials import Learner, Target
from orchestrator.contracts.workflow_labels import WorkflowLabels
from orchestrator.contracts.workflows import (
    Mode,
    Status,
    StopOrder,
    TrialState,
    gate_workflow_id,
    player_workflow_id,
    trial_workflow_id,
)
from orchestrator.sealing import KeyRing, KeyUse, sealed_options
from orchestrator.search_attributes import register_search_attributes
from tests.integration.temporal import local_temporal
from tests.integration.workflows.fake_league import FakeLeague
from tests.integration.workflows.fake_probe import a_probe
from tests.integration.workflows.fake_sweep import FakeSweep
from tests.integration.workflows.fake_tournament import FakeTournament

HISTORIES = Path(__file__).with_name("histories")
SEALED = Path(__file__).with_name("sealed")
SECRETS = {KeyUse.LEAGUE: ["the secret of a recorded league, for tests only"], KeyUse.TRAIN: ["t" * 32]}
"""What the histories in `sealed` were recorded with."""


async def record(folder: Path) -> None:
    """Run small leagues on a Temporal server and write their histories."""
    folder.mkdir(parents=True)
    async with await local_temporal() as environment:
        client = environment.client
        assert await register_search_attributes(client)
        for scenario in (_completed, _stopped, _waited, _checked, _tournaments, _sweeps, _probes, _probed_gate):
            for name, workflow_id in await scenario(client):
                await _write(client, folder / f"{name}.json", workflow_id)


async def record_sealed() -> None:
    """Run a small league that seals, and write the histories of its trial and of a player."""
    SEALED.mkdir(exist_ok=True)
    async with await local_temporal() as environment:
        assert await register_search_attributes(environment.client)
        address = environment.client.service_client.config.target_host
        options = sealed_options(KeyRing(SECRETS), namespace="default", serves=True)
        client = await Client.connect(address, **options)
        await _completed(client)
        for workflow_id in (trial_workflow_id("completed"), player_workflow_id("main-1")):
            await _write(client, SEALED / f"{workflow_id}.json", workflow_id)


Recorded = list[tuple[str, str]]
"""Names of histories, and the ids of their workflows."""


async def _completed(client: Client) -> Recorded:
    """A league of two with setbacks, a rollback, gates and a target that is reached."""
    league = FakeLeague(
        trial="completed",
        learners=[
            Learner(player="main-1", name="main", role=Role.MAIN),
            Learner(player="exploiter-1", name="exploiter", role=Role.MAIN_EXPLOITER),
        ],
        training_failures=[Failure.CREW_LOST, Failure.DAMAGED_CHECKPOINT],
        gates={"g": 3, "g-next": 1},
        gate_of_generation={1: "g"},
        target=Target(opponent="random", win_rate=0.9),
    )
    async with await _serve(client, league):
        handle = await _start(client, league)
        assert await handle.result() is Status.COMPLETED
    return [
        ("trial-completed", trial_workflow_id("completed")),
        ("player-completed", player_workflow_id("main-1")),
        ("gate-passed", gate_workflow_id("g")),
    ]


async def _stopped(client: Client) -> Recorded:
    """A pause, a resume and a stop in the middle of a generation."""
    league = FakeLeague(
        trial="stopped",
        learners=[Learner(player="main-2", name="main", role=Role.MAIN)],
        generation_seconds=0.3,
        gates={"h": 10_000},
        gate_of_generation={1: "h"},
    )
    async with await _serve(client, league):
        handle = await _start(client, league)
        while not league.recorded:
            await asyncio.sleep(0.05)
        await handle.execute_update("pause")
        while league.statuses[-1][0] != "paused":
            await asyncio.sleep(0.05)
        await handle.execute_update("resume")
        while not league.training_now:
            await asyncio.sleep(0.05)
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await handle.result() is Status.STOPPED
    return [
        ("trial-stopped", trial_workflow_id("stopped")),
        ("player-stopped", player_workflow_id("main-2")),
        ("gate-invalid", gate_workflow_id("h")),
    ]


async def _waited(client: Client) -> Recorded:
    """A pause and a stop while a plan waits for games."""
    league = FakeLeague(
        trial="waited", learners=[Learner(player="main-3", name="main", role=Role.MAIN)], planning_waits=True
    )
    async with await _serve(client, league):
        handle = await _start(client, league)
        while not league.calls["plan_generation"]:
            await asyncio.sleep(0.05)
        await handle.execute_update("pause")
        league.planning_waits = False
        while league.statuses[-1][0] != "paused":
            await asyncio.sleep(0.05)
        await handle.execute_update("resume")
        while not league.recorded:
            await asyncio.sleep(0.05)
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await handle.result() is Status.STOPPED
    return [("player-waited", player_workflow_id("main-3"))]


async def _checked(client: Client) -> Recorded:
    """The check that goes through every queue."""
    async with await _serve(client, FakeLeague()):
        await client.execute_workflow(
            "SystemCheckWorkflow", PartRequest(check="1"), id="system-check", task_queue=Queue.LEAGUE
        )
    return [("system-check", "system-check")]


async def _tournaments(client: Client) -> Recorded:
    """One that somebody asked for, and one that a schedule set off."""
    for name, state in (
        ("tournament", TournamentState(tournament="asked")),
        ("tournament-scheduled", TournamentState(schedule="nightly")),
    ):
        async with await _serve(client, FakeLeague(), *FakeTournament().activities()):
            labels = WorkflowLabels(project="recorded", tournament=name)
            handle = await client.start_workflow(
                "TournamentWorkflow",
                state,
                id=name,
                task_queue=Queue.LEAGUE,
                memo=labels.memo,
                search_attributes=labels.search_attributes("running"),
                static_summary=labels.summary,
            )
            assert await handle.result() == "completed"
    return [(name, name) for name in ("tournament", "tournament-scheduled")]


async def _sweeps(client: Client) -> Recorded:
    """A sweep of two trials: one is paused, resumed and stopped early, the other completes."""
    sweep = FakeSweep()
    async with await _serve(client, sweep.league, *sweep.activities()):
        labels = WorkflowLabels(project="recorded", sweep="sweep")
        handle = await client.start_workflow(
            "SweepWorkflow",
            SweepState(sweep="swept"),
            id=sweep_workflow_id("swept"),
            task_queue=Queue.LEAGUE,
            memo=labels.memo,
            search_attributes=labels.search_attributes("pending"),
            static_summary=labels.summary,
        )
        await sweep.drive(handle)
        assert await handle.result() == "completed"
    return [("sweep", sweep_workflow_id("swept")), ("trial-of-a-sweep", trial_workflow_id("first"))]


async def _probes(client: Client) -> Recorded:
    """A probe of one responder."""
    probe = a_probe(budget_steps=100)
    async with await _serve(client, probe.league, probe.advance_probe):
        workflow_id = probe_workflow_id(probe.probe)
        handle = await client.start_workflow(
            "ProbeWorkflow", ProbeState(probe=probe.probe), id=workflow_id, task_queue=Queue.LEAGUE
        )
        assert await handle.result() == "completed"
    return [("probe", workflow_id)]


async def _probed_gate(client: Client) -> Recorded:
    """A gate that waits for its probes."""
    league = FakeLeague(
        trial="probed",
        learners=[Learner(player="main-4", name="main", role=Role.MAIN)],
        budget_steps=10,
        gates={"p": 1},
        probed_gates={"p": 2},
        gate_of_generation={1: "p"},
    )
    async with await _serve(client, league):
        handle = await _start(client, league)
        assert await handle.result() is Status.COMPLETED
    return [("gate-probed", gate_workflow_id("p"))]


async def _serve(client: Client, league: FakeLeague, *more: Callable[..., Any]) -> AsyncExitStack:
    stack = AsyncExitStack()
    await stack.enter_async_context(
        Worker(client, task_queue=Queue.LEAGUE, workflows=WORKFLOWS, workflow_runner=sandbox())
    )
    for queue in (Queue.STORE, Queue.TRAIN, Queue.PLAY, Queue.INTERACTIVE):
        await stack.enter_async_context(Worker(client, task_queue=queue, activities=[*league.activities(), *more]))
    return stack


async def _start(client: Client, league: FakeLeague):  # type: ignore[no-untyped-def]
    labels = WorkflowLabels(project="recorded", trial=league.trial, trial_id=league.trial)
    return await client.start_workflow(
        "TrialWorkflow",
        TrialState(trial=league.trial),
        id=trial_workflow_id(league.trial),
        task_queue=Queue.LEAGUE,
        result_type=Status,
        memo=labels.memo,
        search_attributes=labels.search_attributes(Status.PENDING),
        static_summary=labels.summary,
    )


async def _write(client: Client, path: Path, workflow_id: str) -> None:
    """Write the history without the names of the machine it was recorded on; a replay needs none of them."""
    history = await client.get_workflow_handle(workflow_id).fetch_history()
    path.write_text(json.dumps(_anonymous(json.loads(history.to_json())), indent=1) + "\n")


def _anonymous(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _anonymous(each) for key, each in value.items() if key not in ("identity", "stackTrace")}
    if isinstance(value, list):
        return [_anonymous(each) for each in value]
    return value


if __name__ == "__main__":
    asyncio.run(record_sealed() if sys.argv[1] == "--sealed" else record(HISTORIES / sys.argv[1]))
