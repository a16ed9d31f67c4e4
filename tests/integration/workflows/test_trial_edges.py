"""A trial's beginning and end where orders, budgets and outages meet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from temporalio.client import WorkflowUpdateFailedError
from temporalio.worker import UnsandboxedWorkflowRunner

from league.types import Role
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.trials import Learner, Target
from orchestrator.contracts.workflows import PlayerChange, Status
from orchestrator.workflows import player
from orchestrator.workflows import retries as attempts
from orchestrator.workflows import trial_start as launching
from tests.integration.workflows.conftest import PATIENCE, eventually
from tests.integration.workflows.fake_league import FakeLeague

pytestmark = pytest.mark.asyncio(loop_scope="module")

A_FEW = 3


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> UnsandboxedWorkflowRunner:
    """Workflows outside the sandbox, where a run endures only a few setbacks."""
    for module in (launching, player):
        monkeypatch.setattr(module, "FAILURES_PER_RUN", A_FEW)
    monkeypatch.setattr(attempts, "_delay", lambda failure, tries: timedelta(milliseconds=200))
    return UnsandboxedWorkflowRunner()


async def test_a_budget_that_is_used_up_from_the_start_trains_nobody(begin: Callable) -> None:
    league = FakeLeague(budget_steps=50, first_steps=50)
    async with begin(league) as handle:
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED
    assert league.calls["make_initial_weights"] == league.calls["train_generation"] == 0
    assert [word for word, _ in league.statuses] == ["stopping", "completed"]
    assert "50 steps" in league.statuses[-1][1]


async def test_a_pause_while_first_weights_keep_failing_is_complete(
    begin: Callable, impatient: UnsandboxedWorkflowRunner
) -> None:
    league = FakeLeague(start_paused=True, weights_failures=[Failure.STORE_FULL] * 1000, budget_steps=10)
    async with begin(league, runner=impatient) as handle:
        await eventually(lambda: bool(league.statuses))
        await handle.execute_update("resume")
        await eventually(lambda: bool(league.events))
        await handle.execute_update("pause")
        await eventually(lambda: league.statuses[-1][0] == "paused")
        assert league.calls["enter_players"] == 0
        league.weights_failures.clear()
        await handle.execute_update("resume")
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED


async def test_the_last_main_stays_while_another_still_retires(begin: Callable) -> None:
    learners = [Learner(player=f"p{n}", name=f"p{n}", role=Role.MAIN) for n in range(2)]
    league = FakeLeague(learners=learners, generation_seconds=60)
    async with begin(league) as handle:
        await eventually(lambda: league.training_now == 2)
        first, second = (each.player for each in league.learners)
        await handle.execute_update("change_player", PlayerChange(player=first, retire=True))
        with pytest.raises(WorkflowUpdateFailedError) as refusal:
            await handle.execute_update("change_player", PlayerChange(player=second, retire=True))
        assert "last main" in str(refusal.value.cause)
        await handle.execute_update("change_player", PlayerChange(player=first, retire=True))
    assert league.calls["retire"] == 2, "to retire somebody again is no harm"


async def test_a_main_whose_retirement_was_refused_still_counts(begin: Callable) -> None:
    learners = [Learner(player=f"p{n}", name=f"p{n}", role=Role.MAIN) for n in range(2)]
    league = FakeLeague(learners=learners, generation_seconds=60, change_failures=[Failure.BAD_INPUT])
    async with begin(league) as handle:
        await eventually(lambda: league.training_now == 2)
        first, second = (each.player for each in league.learners)
        with pytest.raises(WorkflowUpdateFailedError):
            await handle.execute_update("change_player", PlayerChange(player=first, retire=True))
        await handle.execute_update("change_player", PlayerChange(player=second, retire=True))


async def test_one_unknown_failure_of_an_evaluation_after_others_is_no_reason_to_fail(
    begin: Callable, impatient: UnsandboxedWorkflowRunner
) -> None:
    failures = [Failure.STORE_FULL] * A_FEW + [Failure.UNKNOWN]
    league = FakeLeague(
        target=Target(opponent="mcts-100", win_rate=0.9), play_failures=failures, generation_seconds=0.1
    )
    async with begin(league, runner=impatient) as handle:
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED
    assert "target reached" in league.statuses[-1][1]
    dropped = [event.payload["failure"] for event in league.events if event.type == "evaluation_dropped"]
    assert dropped == ["unknown"]


async def test_the_end_of_a_trial_does_not_wait_for_its_garbage(begin: Callable) -> None:
    league = FakeLeague(budget_steps=10, garbage_seconds=3)
    async with begin(league) as handle:
        await eventually(lambda: league.calls["collect_garbage"] > 0)
        assert league.statuses[-1][0] == "completed"
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED
