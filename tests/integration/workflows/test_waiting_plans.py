"""Orders that come while a player's next plan waits for games: they are carried out at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from orchestrator.contracts.workflows import Mode, Status, StopOrder
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


async def test_a_plan_that_was_made_meanwhile_is_not_trained_by(begin: Callable) -> None:
    """The order reaches the player while the plan's activity runs, which then ends as if nothing had been said."""
    league = FakeLeague(planning_seconds=60.0)
    async with begin(league) as handle:
        await eventually(lambda: league.calls["plan_generation"] > 0)
        await handle.execute_update("stop", StopOrder(mode=Mode.DRAIN))
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.STOPPED
    assert league.calls["train_generation"] == 0
