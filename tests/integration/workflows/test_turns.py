"""The place that a generation takes in the queue of those that wait for a crew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from league.training_priority import Urgency
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.workflows import Status
from tests.integration.workflows.conftest import PATIENCE
from tests.integration.workflows.fake_league import FakeLeague

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("urgency", list(Urgency))
async def test_the_urgency_of_a_plan_is_the_priority_of_its_training(begin: Callable, urgency: Urgency) -> None:
    league = FakeLeague(budget_steps=20, urgency=urgency)
    async with begin(league) as handle:
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED
    assert set(league.priorities) == {urgency}


async def test_a_plan_after_a_rollback_waits_its_turn(begin: Callable) -> None:
    league = FakeLeague(budget_steps=20, urgency=Urgency.FAR_BEHIND, training_failures=[Failure.DAMAGED_CHECKPOINT] * 2)
    async with begin(league) as handle:
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED
    assert league.priorities[:4] == [Urgency.FAR_BEHIND, Urgency.IN_STEP, Urgency.IN_STEP, Urgency.FAR_BEHIND]
