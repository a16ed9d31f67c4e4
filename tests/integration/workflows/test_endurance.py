"""Trouble that lasts: runs make room for new ones, and nothing is forgotten between them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner

from orchestrator.contracts import Queue
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.play import GateBatch
from orchestrator.contracts.tournaments import TournamentState, tournament_workflow_id
from orchestrator.contracts.workflows import (
    GateState,
    Mode,
    PlayerState,
    Status,
    StopOrder,
    gate_workflow_id,
    player_workflow_id,
    trial_workflow_id,
)
from orchestrator.workflows import gate, player, tournament
from orchestrator.workflows import retries as attempts
from orchestrator.workflows import trial_start as launching
from tests.integration.workflows.conftest import PATIENCE, Serve, eventually
from tests.integration.workflows.fake_league import FakeLeague
from tests.integration.workflows.fake_tournament import FakeTournament

pytestmark = pytest.mark.asyncio(loop_scope="module")

A_FEW = 3


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> UnsandboxedWorkflowRunner:
    """Workflows outside the sandbox, where a run endures only a few setbacks and waits for none of them."""
    for module in (gate, launching, player, tournament):
        monkeypatch.setattr(module, "FAILURES_PER_RUN", A_FEW)
    monkeypatch.setattr(attempts, "_delay", lambda failure, tries: timedelta(milliseconds=tries))
    return UnsandboxedWorkflowRunner()


async def runs_of(temporal: Client, workflow_id: str) -> int:
    """Runs of the workflow so far, as the server's list shows them a moment later."""
    return len([run async for run in temporal.list_workflows(f'WorkflowId = "{workflow_id}"')])


async def test_a_player_goes_on_in_a_new_run_after_many_setbacks(
    begin: Callable, temporal: Client, impatient: UnsandboxedWorkflowRunner
) -> None:
    league = FakeLeague(budget_steps=20, training_failures=[Failure.CREW_LOST] * 8)
    async with begin(league, runner=impatient) as handle:
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED
        workflow_id = player_workflow_id(league.learners[0].player)

        async def renewed() -> bool:
            return await runs_of(temporal, workflow_id) == 3

        await eventually(renewed)
    assert league.tries[:2] == [9, 1], "attempts are counted through all runs, and anew for the next generation"
    assert [event.payload["tries"] for event in league.events] == [1, 2, 3, 5, 6, 7]


async def test_first_weights_are_made_in_a_new_run_after_many_setbacks(
    begin: Callable, temporal: Client, impatient: UnsandboxedWorkflowRunner
) -> None:
    league = FakeLeague(budget_steps=10, weights_failures=[Failure.STORE_FULL] * 5)
    async with begin(league, runner=impatient) as handle:
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED

        async def renewed() -> bool:
            return await runs_of(temporal, trial_workflow_id(league.trial)) == 2

        await eventually(renewed)
    assert [event.payload["tries"] for event in league.events] == [1, 2, 3, 5]
    assert [word for word, _ in league.statuses] == ["running", "stopping", "completed"]


async def test_a_gate_goes_on_in_a_new_run_after_many_setbacks(
    serve: Serve, temporal: Client, impatient: UnsandboxedWorkflowRunner
) -> None:
    key = f"g{uuid.uuid4().hex[:8]}"
    league = FakeLeague(gates={key: 2}, play_failures=[Failure.STORE_FULL] * 6)
    async with serve(league, runner=impatient):
        handle = await start_gate(temporal, key)
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "passed"

        async def renewed() -> bool:
            return await runs_of(temporal, gate_workflow_id(key)) == 2

        await eventually(renewed)
    assert [event.payload["tries"] for event in league.events] == [1, 2, 3, 5, 6]
    assert league.calls["play_games"] == 8 and league.stopped_gates == []


async def test_a_tournament_goes_on_in_a_new_run_after_many_setbacks(
    serve: Serve, temporal: Client, impatient: UnsandboxedWorkflowRunner
) -> None:
    key = uuid.uuid4().hex[:8]
    league, contest = FakeLeague(play_failures=[Failure.STORE_FULL] * 9), FakeTournament()
    async with serve(league, *contest.activities(), runner=impatient):
        handle = await start_tournament(temporal, key)
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "completed"

        async def renewed() -> bool:
            return await runs_of(temporal, tournament_workflow_id(key)) >= 2

        await eventually(renewed)
    assert sorted(contest.recorded) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    most = max(setback.tries for setback in contest.setbacks)
    assert most > A_FEW, "pauses go on growing in the new run"


async def test_a_damaged_checkpoint_withdraws_a_side_and_the_tournament_goes_on(serve: Serve, temporal: Client) -> None:
    key = uuid.uuid4().hex[:8]
    league, contest = FakeLeague(play_failures=[Failure.DAMAGED_CHECKPOINT]), FakeTournament()
    async with serve(league, *contest.activities()):
        handle = await start_tournament(temporal, key)
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "completed"
    (withdrawal,) = contest.withdrawals
    assert (withdrawal.tournament, withdrawal.round, withdrawal.problem) == (key, 0, "planted damaged_checkpoint")
    assert len(contest.recorded) == 3


async def test_a_checkpoint_that_could_not_be_read_in_passing_ends_nothing(serve: Serve, temporal: Client) -> None:
    key = uuid.uuid4().hex[:8]
    league, contest = FakeLeague(play_failures=[Failure.DAMAGED_CHECKPOINT]), FakeTournament(sound=1)
    async with serve(league, *contest.activities()):
        handle = await start_tournament(temporal, key)
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "completed"
    assert contest.withdrawals == [] and sorted(contest.recorded) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    (setback,) = contest.setbacks
    assert (setback.failure, setback.delay_seconds) == ("damaged_checkpoint", 1.0)


async def test_a_checkpoint_that_is_never_read_ends_the_tournament(
    serve: Serve, temporal: Client, impatient: UnsandboxedWorkflowRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tournament, "MAX_UNREADABLE_RUNS", 1)
    key = uuid.uuid4().hex[:8]
    league, contest = FakeLeague(play_failures=[Failure.DAMAGED_CHECKPOINT] * 9), FakeTournament(sound=9)
    async with serve(league, *contest.activities(), runner=impatient):
        handle = await start_tournament(temporal, key)
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "failed"
    (end,) = contest.ended
    assert end.status == "failed" and "both of its files are intact" in end.reason
    assert sorted((each.pair, each.tries) for each in contest.setbacks) == [(0, 1), (1, 1)], "in the first run only"


async def test_a_tournament_that_fails_plays_nothing_again(serve: Serve, temporal: Client) -> None:
    key = uuid.uuid4().hex[:8]
    # the second game is under way when the first turns out to be impossible
    league, contest = FakeLeague(play_failures=[Failure.BAD_INPUT], play_seconds=60), FakeTournament()
    async with serve(league, *contest.activities()):
        handle = await start_tournament(temporal, key)
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "failed"
    assert league.calls["play_games"] <= 2 and contest.setbacks == [] and contest.recorded == []
    (end,) = contest.ended
    assert end.status == "failed" and "planted bad_input" in end.reason


async def test_the_reason_to_stop_a_gate_is_carried_into_its_next_run(serve: Serve, temporal: Client) -> None:
    key = f"g{uuid.uuid4().hex[:8]}"
    league = FakeLeague(gates={key: 10_000}, generation_seconds=0)

    async def stop_at_the_last(batch: GateBatch) -> None:
        if league.gates[key] == 10_000 - gate.BATCHES_PER_RUN + 1:
            await temporal.get_workflow_handle(gate_workflow_id(key)).signal("stop", "seen enough")

    league.before_batch = stop_at_the_last
    async with serve(league):
        handle = await start_gate(temporal, key)
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "invalid"

        async def renewed() -> bool:
            return await runs_of(temporal, gate_workflow_id(key)) == 2

        await eventually(renewed)
    assert [stop.reason for stop in league.stopped_gates] == ["seen enough"]
    assert league.calls["play_games"] == gate.BATCHES_PER_RUN


async def test_an_outcome_whose_file_is_gone_is_trained_again_after_a_while(
    begin: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player, "LONG_PAUSE", timedelta(milliseconds=20))
    league = FakeLeague(budget_steps=10, record_failures=[Failure.DAMAGED_CHECKPOINT])
    async with begin(league, runner=UnsandboxedWorkflowRunner()) as handle:
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED
    assert league.trained[:2] == [1, 1], "the budget's end may come after the next generation began"
    assert [generation for _, generation in league.recorded][:1] == [1]
    (event,) = league.events
    assert (event.type, event.payload["failure"]) == ("generation_retried", "damaged_checkpoint")
    assert event.payload["delay_seconds"] == 0.02 and league.rollbacks == []


async def test_a_player_that_holds_off_stops_at_once(begin: Callable, temporal: Client) -> None:
    league = FakeLeague(record_failures=[Failure.DAMAGED_CHECKPOINT] * 50)
    async with begin(league) as handle:
        await eventually(lambda: len(league.events) == 1)
        waiting = temporal.get_workflow_handle(player_workflow_id(league.learners[0].player))
        state: PlayerState = await waiting.query("state", result_type=PlayerState)
        assert (state.generation, state.attempt) == (0, 1), "the plan stands"
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
    assert league.calls["train_generation"] == 1 and league.recorded == []


async def start_gate(temporal: Client, key: str):  # type: ignore[no-untyped-def]
    return await temporal.start_workflow(
        "GateWorkflow", GateState(gate=key), id=gate_workflow_id(key), task_queue=Queue.LEAGUE, result_type=str
    )


async def start_tournament(temporal: Client, key: str):  # type: ignore[no-untyped-def]
    return await temporal.start_workflow(
        "TournamentWorkflow",
        TournamentState(tournament=key),
        id=tournament_workflow_id(key),
        task_queue=Queue.LEAGUE,
        result_type=str,
    )
