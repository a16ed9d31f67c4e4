"""Orders that come while a player's next plan waits for games: they are carried out at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace

import pytest

from league.types import Role
from orchestrator.contracts.generations import GenerationKey
from orchestrator.contracts.workflows import Mode, PlayerState, Status, StopOrder
from orchestrator.workflows import player
from tests.integration.workflows.conftest import PATIENCE, eventually
from tests.integration.workflows.fake_league import FakeLeague

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("mode", [Mode.NOW, Mode.DRAIN])
async def test_a_stop_begins_no_generation(begin: Callable, mode: Mode) -> None:
    league = FakeLeague(planning_waits=True)
    async with begin(league) as handle:
        await eventually(lambda: league.calls["plan_generation"] > 1)
        await handle.execute_update("stop", StopOrder(mode=mode))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
    assert league.calls["train_generation"] == 0


async def test_a_pause_is_complete_at_once_and_the_plan_is_asked_for_again(begin: Callable) -> None:
    league = FakeLeague(planning_waits=True)
    async with begin(league) as handle:
        await eventually(lambda: league.calls["plan_generation"] > 1)
        await handle.execute_update("pause")
        await eventually(lambda: league.statuses[-1][0] == "paused")
        assert league.calls["train_generation"] == 0
        league.planning_waits = False
        await handle.execute_update("resume")
        await eventually(lambda: bool(league.recorded))
        assert league.recorded[0][1] == 1


@pytest.mark.parametrize("mode", [Mode.NOW, Mode.DRAIN, Mode.PAUSE])
async def test_a_plan_that_was_made_meanwhile_is_not_trained_by(monkeypatch: pytest.MonkeyPatch, mode: Mode) -> None:
    """The order reaches the player together with the plan, whose activity ended as if nothing had been said."""
    told = asyncio.Event()

    async def made() -> str:
        with suppress(asyncio.CancelledError):
            await told.wait()
        return "a plan"

    state = PlayerState(trial="t", trial_name="t", player="p", name="main", role=Role.MAIN)
    workflow = player.PlayerWorkflow(state)
    monkeypatch.setattr(player, "plan_generation", SimpleNamespace(start=lambda key: asyncio.create_task(made())))
    monkeypatch.setattr("temporalio.workflow.patched", lambda name: True)
    key = GenerationKey(trial="t", player="p", generation=1)
    planning = asyncio.create_task(workflow._plan(key))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    workflow.set_mode(mode)
    told.set()
    assert await asyncio.wait_for(planning, PATIENCE) is None

    state.mode = Mode.RUN
    assert await asyncio.wait_for(workflow._plan(key), PATIENCE) == "a plan", "the next one counts again"


async def test_a_stop_does_not_wait_for_a_plan_that_is_being_made(begin: Callable) -> None:
    league = FakeLeague(planning_seconds=60.0)
    async with begin(league) as handle:
        await eventually(lambda: league.calls["plan_generation"] > 0)
        await handle.execute_update("stop", StopOrder(mode=Mode.DRAIN))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
    assert league.calls["train_generation"] == 0
