"""Workflows that were terminated by hand: players and gates start again where they were, and a stop always ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from temporalio.client import Client

from api.store.trials.expected_workflows import ExpectedWorkflow
from api.web.temporal.lost_workflows import LostWorkflows
from league.types import Role
from orchestrator.contracts import Queue
from orchestrator.contracts.trials import Learner
from orchestrator.contracts.workflows import (
    Mode,
    Report,
    ReportKind,
    Status,
    StopOrder,
    TrialState,
    gate_workflow_id,
    player_workflow_id,
    trial_workflow_id,
)
from tests.integration.workflows.conftest import PATIENCE, eventually
from tests.integration.workflows.fake_league import FakeLeague

pytestmark = pytest.mark.asyncio(loop_scope="module")


def two_players() -> FakeLeague:
    return FakeLeague(
        learners=[
            Learner(player="p-main", name="main", role=Role.MAIN),
            Learner(player="p-other", name="other", role=Role.MAIN),
        ]
    )


async def lose(temporal: Client, workflow_id: str) -> None:
    await temporal.get_workflow_handle(workflow_id).terminate()


def newest(league: FakeLeague, player: str) -> int:
    return max((generation for name, generation in league.recorded if name == player), default=0)


async def test_a_lost_player_goes_on_after_its_last_record(begin: Callable, temporal: Client) -> None:
    league = two_players()
    async with begin(league) as trial:
        main = league.learners[0].player
        await eventually(lambda: newest(league, main) >= 2)
        await lose(temporal, player_workflow_id(main))
        before = newest(league, main)
        lost = Report(happening=ReportKind.LOST, sender=main, generation=before, detail="terminated")
        await trial.signal("report", lost)
        await trial.signal("report", lost)  # two API processes may notice it
        await eventually(lambda: newest(league, main) >= before + 2)
        generations = [generation for name, generation in league.recorded if name == main]
        assert generations == list(range(1, len(generations) + 1)), "none left out, none recorded twice"
        await trial.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await asyncio.wait_for(trial.result(), PATIENCE) is Status.STOPPED


@pytest.mark.parametrize("mode", [Mode.NOW, Mode.DRAIN])
async def test_a_stop_ends_though_a_player_was_lost(begin: Callable, temporal: Client, mode: Mode) -> None:
    league = two_players()
    async with begin(league) as trial:
        await eventually(lambda: len(league.recorded) >= 2)
        await lose(temporal, player_workflow_id(league.learners[0].player))
        await trial.execute_update("stop", StopOrder(mode=mode))
        assert await asyncio.wait_for(trial.result(), PATIENCE) is Status.STOPPED


async def test_a_new_workflow_takes_the_place_of_a_lost_trial(begin: Callable, temporal: Client) -> None:
    league = two_players()
    async with begin(league) as trial:
        main, other = (each.player for each in league.learners)
        await eventually(lambda: newest(league, main) >= 2 and newest(league, other) >= 2)
        await trial.terminate()
        await lose(temporal, player_workflow_id(main))
        league.learners = [
            Learner(player=each.player, name=each.name, role=each.role, generation=newest(league, each.player))
            for each in league.learners
        ]
        before = {each.player: each.generation for each in league.learners}
        successor = await temporal.start_workflow(
            "TrialWorkflow",
            TrialState(trial=league.trial, status=Status.RUNNING, launched=True),
            id=trial_workflow_id(league.trial),
            task_queue=Queue.LEAGUE,
            result_type=Status,
        )
        await eventually(lambda: all(newest(league, player) >= before[player] + 2 for player in before))
        assert league.calls["enter_players"] == 1, "the first versions are made once"
        await successor.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await asyncio.wait_for(successor.result(), PATIENCE) is Status.STOPPED


@pytest.mark.parametrize(("status", "mode"), [(Status.PAUSED, Mode.PAUSE), (Status.STOPPING, Mode.DRAIN)])
async def test_a_lost_trial_keeps_its_status(begin: Callable, temporal: Client, status: Status, mode: Mode) -> None:
    league = two_players()
    async with begin(league) as trial:
        await eventually(lambda: len(league.recorded) >= 2)
        await trial.terminate()
        final = Status.STOPPED if mode.ends else None
        successor = await temporal.start_workflow(
            "TrialWorkflow",
            TrialState(trial=league.trial, status=status, mode=mode, launched=True, final=final),
            id=trial_workflow_id(league.trial),
            task_queue=Queue.LEAGUE,
            result_type=Status,
        )
        if not mode.ends:
            await eventually(lambda: league.calls["begin_trial"] >= 2)
            await asyncio.sleep(0.5)  # generations under way end
            before = len(league.recorded)
            await successor.execute_update("resume")
            await eventually(lambda: len(league.recorded) >= before + 2)
            await successor.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await asyncio.wait_for(successor.result(), PATIENCE) is Status.STOPPED


async def test_a_lost_gate_starts_again_and_its_trial_ends(begin: Callable, temporal: Client) -> None:
    league = FakeLeague(budget_steps=30, gates={"g": 1_000}, gate_of_generation={1: "g"})
    async with begin(league) as trial:
        gate = league.gate_of_generation[1]
        await eventually(lambda: league.gates[gate] <= 997)
        await lose(temporal, gate_workflow_id(gate))
        noticing = Noticing(temporal, gate, league.trial)
        left = league.gates[gate]
        assert await noticing.restart() == 1
        await eventually(lambda: league.gates[gate] <= left - 3)
        assert [(lost.kind, ending.how) for lost, ending in noticing.noted] == [("gate", "terminated")]
        assert await noticing.restart() == 0, "it runs"
        league.gates[gate] = 1
        assert await asyncio.wait_for(trial.result(), PATIENCE) is Status.COMPLETED


async def test_a_stop_now_ends_though_a_gate_was_lost(begin: Callable, temporal: Client) -> None:
    league = FakeLeague(gates={"g": 1_000}, gate_of_generation={1: "g"})
    async with begin(league) as trial:
        gate = league.gate_of_generation[1]
        await eventually(lambda: league.gates[gate] <= 999)
        await lose(temporal, gate_workflow_id(gate))
        await trial.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await asyncio.wait_for(trial.result(), PATIENCE) is Status.STOPPED
        assert [end.trial for end in league.gate_ends] == [league.trial], "its row ends with a reason"


class Noticing(LostWorkflows):
    """Finds one gate in the rows, and keeps what would be recorded."""

    def __init__(self, temporal: Client, gate: str, trial: str) -> None:
        super().__init__(None, temporal)  # type: ignore[arg-type]
        self.noted: list[tuple[ExpectedWorkflow, Any]] = []
        self._gate = ExpectedWorkflow(
            kind="gate", row_id=gate, workflow_id=gate_workflow_id(gate), name="champion", trial_id=trial
        )

    def _expected(self) -> list[ExpectedWorkflow]:
        return [self._gate]

    def _note(self, lost: ExpectedWorkflow, ending: Any) -> None:
        self.noted.append((lost, ending))
