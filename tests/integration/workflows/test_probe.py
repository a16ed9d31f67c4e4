"""A probe's workflow: starts its responder's trial, stops it when cancelled, and ends in whatever run it is."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle

from orchestrator.contracts import probes
from orchestrator.contracts.queues import Queue
from orchestrator.workflows import probe as probe_module
from tests.integration.workflows.conftest import PATIENCE, Serve, eventually
from tests.integration.workflows.fake_probe import FakeProbe, a_probe

pytestmark = pytest.mark.asyncio(loop_scope="module")


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
    probe = a_probe(budget_steps=400)
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
