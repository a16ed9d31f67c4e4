"""Trials that share one crew: a real Temporal server divides it by their weights."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest
import pytest_asyncio
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from api.worker import WORKFLOWS
from league.types import Role
from orchestrator.contracts import Queue, generations, trials
from orchestrator.contracts.workflows import TrialState, player_workflow_id, trial_workflow_id
from tests.integration.temporal import local_temporal
from tests.integration.workflows.conftest import eventually
from tests.integration.workflows.fake_league import FakeLeague

pytestmark = pytest.mark.asyncio(loop_scope="module")

FAIR = (
    "matching.enableFairness=true",
    "matching.numTaskqueueReadPartitions=1",
    "matching.numTaskqueueWritePartitions=1",
)
"""As `lanista up` and deploy/temporal start the server."""


@dataclass
class SharedCrew(FakeLeague):
    """Several trials, with players and a weight each; all generations need the same crew.

    A generation ends when all other players of the trials that run wait for the crew, however fast the machine is.
    """

    players: dict[str, list[trials.Learner]] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    queued: set[str] = field(default_factory=set)
    """Players that have a plan and wait for the crew."""
    order: list[str] = field(default_factory=list)
    """The trial of each generation, in the order in which they got the crew."""

    def add(self, name: str, *, players: int, weight: float) -> str:
        trial = f"{name}-{uuid.uuid4().hex[:8]}"
        self.players[trial] = [
            trials.Learner(player=f"{trial}-p{number}", name=f"p{number}", role=Role.MAIN) for number in range(players)
        ]
        self.weights[trial] = weight
        return trial

    @activity.defn
    async def begin_trial(self, request: trials.TrialRequest) -> trials.TrialBrief:
        brief = await super().begin_trial(request)
        return replace(brief, learners=self.players[request.trial])

    @activity.defn
    async def plan_generation(self, key: generations.GenerationKey) -> generations.GenerationPlan:
        plan = await super().plan_generation(key)
        self.queued.add(key.player)
        return replace(plan, weight=self.weights[key.trial])

    @activity.defn
    async def train_generation(self, plan: generations.GenerationPlan) -> generations.GenerationOutcome:
        self.order.append(plan.trial)
        self.queued.discard(plan.player)
        while len(self.queued) < sum(len(self.players[trial]) for trial in self.running) - 1:
            activity.heartbeat()
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)  # from the plan to the queue
        return await super().train_generation(plan)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fair_temporal() -> AsyncIterator[Client]:
    settings = [each for setting in FAIR for each in ("--dynamic-config-value", setting)]
    async with await local_temporal(*settings) as environment:
        yield environment.client


@asynccontextmanager
async def serving(temporal: Client, league: SharedCrew) -> AsyncIterator[None]:
    """Workers of all queues; that of the generations has one slot."""
    async with AsyncExitStack() as stack:
        runner = UnsandboxedWorkflowRunner()
        await stack.enter_async_context(
            Worker(temporal, task_queue=Queue.LEAGUE, workflows=WORKFLOWS, workflow_runner=runner)
        )
        for queue in (Queue.STORE, Queue.TRAIN, Queue.PLAY, Queue.INTERACTIVE):
            slots = 1 if queue is Queue.TRAIN else 100
            worker = Worker(temporal, task_queue=queue, activities=league.activities(), max_concurrent_activities=slots)
            await stack.enter_async_context(worker)
        try:
            yield
        finally:
            await asyncio.gather(*(_terminate(temporal, trial, players) for trial, players in league.players.items()))


async def _terminate(temporal: Client, trial: str, players: list[trials.Learner]) -> None:
    for workflow_id in (trial_workflow_id(trial), *(player_workflow_id(each.player) for each in players)):
        try:
            await temporal.get_workflow_handle(workflow_id).terminate()
        except Exception:  # it was never started
            continue


async def start(temporal: Client, league: SharedCrew, trial: str) -> None:
    league.running.add(trial)
    state = TrialState(trial=trial)
    await temporal.start_workflow("TrialWorkflow", state, id=trial_workflow_id(trial), task_queue=Queue.LEAGUE)


async def test_trials_get_the_crew_in_proportion_to_their_weights(fair_temporal: Client) -> None:
    league = SharedCrew()
    heavy, light = league.add("heavy", players=4, weight=3.0), league.add("light", players=4, weight=1.0)
    async with serving(fair_temporal, league):
        await start(fair_temporal, league, heavy)
        await start(fair_temporal, league, light)
        await eventually(lambda: len(league.order) >= 40)
        both = league.order[8:40]
        assert 2.0 <= both.count(heavy) / both.count(light) <= 4.5, both

        league.weights[heavy], league.weights[light] = 1.0, 3.0  # counts from each player's next generation
        seen = len(league.order)
        await eventually(lambda: len(league.order) >= seen + 48)
        after = league.order[seen + 16 : seen + 48]
        assert 2.0 <= after.count(light) / after.count(heavy) <= 4.5, after


async def test_a_newcomer_does_not_wait_for_all_players_of_a_large_trial(fair_temporal: Client) -> None:
    league = SharedCrew()
    crowd, newcomer = league.add("crowd", players=16, weight=1.0), league.add("newcomer", players=1, weight=1.0)
    async with serving(fair_temporal, league):
        await start(fair_temporal, league, crowd)
        await eventually(lambda: len(league.order) >= 20)
        await start(fair_temporal, league, newcomer)
        await eventually(lambda: league.order.count(newcomer) >= 6)
        places = [place for place, trial in enumerate(league.order) if trial == newcomer]
        waits = [after - before - 1 for before, after in pairwise(places)]
        assert max(waits) <= 4, waits  # first come, first served it would be 16
