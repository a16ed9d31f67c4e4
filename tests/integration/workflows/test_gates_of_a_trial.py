"""Gates and the trial that waits for them: none is waited for that is over, none goes on when its trial is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner

from orchestrator.contracts.errors import Failure
from orchestrator.contracts.play import OpenedGate
from orchestrator.contracts.workflows import Mode, Report, ReportKind, Status, StopOrder, gate_workflow_id
from orchestrator.workflows import gate
from tests.integration.workflows.conftest import PATIENCE, eventually
from tests.integration.workflows.fake_league import FakeLeague

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_gate_that_is_slow_to_say_that_it_ended_leaves_no_ghost(
    begin: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when its worker dies just then: whatever it has started by that time goes on without it."""
    report_to_trial = gate.report_to_trial

    async def tell_late(trial: str, report: Report) -> None:
        if report.happening is ReportKind.GATE_ENDED and report.next_gate:
            await workflow.sleep(2)
        await report_to_trial(trial, report)

    monkeypatch.setattr(gate, "report_to_trial", tell_late)
    league = FakeLeague(budget_steps=10, gates={"g": 1, "g-next": 1}, gate_of_generation={1: "g"}, play_seconds=0)
    async with begin(league, runner=UnsandboxedWorkflowRunner()) as handle:
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED
    assert set(league.gates.values()) == {0}


async def test_a_stop_now_does_not_wait_for_a_gate_without_a_workflow(begin: Callable) -> None:
    league = FakeLeague(generation_seconds=0.1)
    async with begin(league) as handle:
        await eventually(lambda: bool(league.recorded))
        ghost = f"ghost-{league.trial}"
        await handle.signal("report", Report(happening=ReportKind.GATE_ENDED, sender="before", next_gate=ghost))
        await handle.execute_update("stop", StopOrder(mode=Mode.DRAIN))
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED


@pytest.mark.parametrize("mode", [Mode.NOW, Mode.DRAIN])
async def test_a_stop_now_ends_gates_that_wait_behind_other_trials(begin: Callable, mode: Mode) -> None:
    league = FakeLeague(generation_seconds=0.1)
    async with begin(league) as handle:
        await eventually(lambda: bool(league.recorded))
        await handle.execute_update("stop", StopOrder(mode=mode, reason="enough"))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
    ends = [(end.trial, end.reason) for end in league.gate_ends]
    assert ends == ([(league.trial, "its trial ends: enough")] if mode is Mode.NOW else [])


async def test_gates_of_a_trial_that_failed_end_and_make_room(begin: Callable, temporal: Client) -> None:
    league = FakeLeague(gates={"g": 1}, training_failures=[Failure.BAD_INPUT])
    async with begin(league) as handle:
        (following,) = league.gates
        league.opened_gates = [OpenedGate(gate=following, trial="another")]
        assert await handle.result() is Status.FAILED
        assert await temporal.get_workflow_handle(gate_workflow_id(following)).result() == "passed"
    assert [end.trial for end in league.gate_ends] == [league.trial]


async def test_a_gate_waits_for_its_probes_over_runs_and_the_trial_for_the_gate(
    begin: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "PROBE_INTERVAL", timedelta(milliseconds=20))
    monkeypatch.setattr(gate, "BATCHES_PER_RUN", 3)
    league = FakeLeague(
        budget_steps=10, gates={"p": 1}, probed_gates={"p": 5}, gate_of_generation={1: "p"}, play_seconds=0
    )
    async with begin(league, runner=UnsandboxedWorkflowRunner()) as handle:
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED
    assert league.calls["judge_gate_probe"] == 5 and set(league.probed_gates.values()) == {0}


async def test_a_stop_now_ends_a_gate_that_waits_for_its_probes(begin: Callable) -> None:
    league = FakeLeague(
        generation_seconds=0.1, gates={"p": 1}, probed_gates={"p": 10_000}, gate_of_generation={1: "p"}, play_seconds=0
    )
    async with begin(league) as handle:
        await eventually(lambda: set(league.gates.values()) == {0})
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
    assert [stop.gate for stop in league.stopped_gates] == list(league.gates)
