"""Games that were played and cannot be read again: gates play them anew, evaluations are left to a later version."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from temporalio import activity
from temporalio.exceptions import ApplicationError

from orchestrator.contracts import play
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.trials import Target
from orchestrator.contracts.workflows import Status
from tests.integration.workflows.conftest import PATIENCE
from tests.integration.workflows.fake_league import FakeLeague

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(kw_only=True)
class Forgetful(FakeLeague):
    """Loses the games of its first batches."""

    losses: int = 0

    def _lose(self) -> None:
        if self.losses:
            self.losses -= 1
            raise ApplicationError("they are gone", type=Failure.GAMES_LOST, non_retryable=True)

    @activity.defn
    async def record_gate_batch(self, batch: play.GateBatch) -> play.GateBrief:
        self._lose()
        self.gates[batch.gate] -= 1
        return self._brief(batch.gate)

    @activity.defn
    async def record_evaluation(self, report: play.EvaluationReport) -> play.TargetState:
        self._lose()
        return play.TargetState(win_rate=0.95, low=0.9, high=1.0, games=2, reached=report.generation >= 3)


@pytest.mark.parametrize(("losses", "played", "stopped"), [(3, 3 + 2, 0), (1000, 6, 1)])
async def test_a_gate_plays_lost_games_again_a_few_times(
    begin: Callable, losses: int, played: int, stopped: int
) -> None:
    league = Forgetful(budget_steps=20, gates={"g": 2}, gate_of_generation={1: "g"}, losses=losses)
    async with begin(league) as handle:
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED
    assert league.calls["play_games"] == played
    assert [stop.reason for stop in league.stopped_gates] == ["games_lost: they are gone"] * stopped
    assert [event.payload["failure"] for event in league.events if event.type == "gate_retried"] == [
        "games_lost"
    ] * min(losses, 5)


async def test_an_evaluation_whose_games_are_lost_is_dropped_visibly(begin: Callable) -> None:
    league = Forgetful(target=Target(opponent="random", win_rate=0.9), losses=1)
    async with begin(league) as handle:
        assert await asyncio.wait_for(handle.result(), PATIENCE) is Status.COMPLETED
    dropped = [event.payload for event in league.events if event.type == "evaluation_dropped"]
    assert [payload["failure"] for payload in dropped] == ["games_lost"]
