"""A probe's workflow: starts its responder's trial, stops it when cancelled, and ends in whatever run it is."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client, WorkflowHandle
from temporalio.exceptions import ApplicationError

from league.types import Role
from orchestrator.contracts import probes
from orchestrator.contracts.queues import Queue
from orchestrator.contracts.sweeps import TrialOrder, TrialToStart
from orchestrator.contracts.trials import Learner
from orchestrator.contracts.workflows import Mode
from orchestrator.workflows import probe as probe_module
from tests.integration.workflows.conftest import PATIENCE, Serve, eventually
from tests.integration.workflows.fake_league import FakeLeague
from tests.integration.workflows.fake_sweep import FINAL

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class FakeProbe:
    """Plans from what its one responder's trial did, as the store does."""

    league: FakeLeague
    probe: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    asked: list[probes.ProbeStep] = field(default_factory=list)
    broken: bool = False

    @activity.defn(name=probes.advance_probe.name)
    async def advance_probe(self, step: probes.ProbeStep) -> probes.ProbePlan:
        self.asked.append(step)
        if step.failure:
            return probes.ProbePlan(status="failed", over=True)
        if self.broken:
            raise ApplicationError("the version is gone", non_retryable=True)
        trial, last = self.league.trial, self.league.statuses[-1][0] if self.league.statuses else None
        if last in FINAL:
            return probes.ProbePlan(status="stopped" if step.stop_reason else "completed", over=True)
        if step.stop_reason:
            order = TrialOrder(trial=trial, mode=Mode.NOW, reason=step.stop_reason)
            return probes.ProbePlan(status="stopping", orders=[order])
        return probes.ProbePlan(status="running", trials=[TrialToStart(trial=trial, name="responder")])


def a_probe(**options: Any) -> FakeProbe:
    name = uuid.uuid4().hex[:8]
    league = FakeLeague(trial=f"responder-{name}", generation_seconds=0.02, **options)
    league.learners = [Learner(player=f"player-{name}", name="responder", role=Role.MAIN)]
    return FakeProbe(league)


@pytest.fixture(autouse=True)
def short_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_module, "INTERVAL", timedelta(seconds=0.1))


async def started(temporal: Client, probe: FakeProbe) -> WorkflowHandle[Any, Any]:
    state = probes.ProbeState(probe=probe.probe)
    workflow_id = probes.probe_workflow_id(probe.probe)
    return await temporal.start_workflow("ProbeWorkflow", state, id=workflow_id, task_queue=Queue.LEAGUE)


async def test_a_probe_trains_its_responder_once_over_several_runs(
    temporal: Client, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe_module, "STEPS_PER_RUN", 2)
    probe = a_probe(budget_steps=100)
    async with serve(probe.league, probe.advance_probe):
        handle = await started(temporal, probe)
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "completed"
    assert probe.league.calls["begin_trial"] == 1
    assert probe.league.statuses[-1][0] == "completed"
    assert len(probe.asked) > 2


async def test_a_cancelled_probe_ends_its_trial_first(temporal: Client, serve: Serve) -> None:
    probe = a_probe()
    async with serve(probe.league, probe.advance_probe):
        handle = await started(temporal, probe)
        await eventually(lambda: bool(probe.league.recorded))
        await handle.cancel()
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "stopped"
    assert probe.league.statuses[-1][0] == "stopped"


async def test_a_probe_that_the_store_refuses_fails(temporal: Client, serve: Serve) -> None:
    probe = a_probe()
    probe.broken = True
    async with serve(probe.league, probe.advance_probe):
        handle = await started(temporal, probe)
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "failed"
    assert "the version is gone" in probe.asked[-1].failure
