"""Orders that come while the players of a trial are being started."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from orchestrator.contracts.trials import Learner, TrialBrief
from orchestrator.contracts.workflows import Mode, TrialState
from orchestrator.workflows import trial_orders
from orchestrator.workflows.trial_orders import TrialOrders


class Temporal:
    """Knows a player's workflow once its start has gone through."""

    def __init__(self) -> None:
        self.begins = asyncio.Event()
        self.known: dict[str, Mode] = {}

    async def start_player(self, state: Any) -> None:
        await self.begins.wait()
        self.known[state.player] = state.mode

    async def set_player_mode(self, player: str, mode: Mode) -> bool:
        if player in self.known:
            self.known[player] = mode
        return player in self.known


@pytest.fixture
def temporal(monkeypatch: pytest.MonkeyPatch) -> Temporal:
    found = Temporal()

    def initial(brief: TrialBrief, learner: Learner, mode: Mode) -> Any:
        return SimpleNamespace(player=learner.player, mode=mode)

    monkeypatch.setattr(trial_orders, "start_player", found.start_player)
    monkeypatch.setattr(trial_orders, "set_player_mode", found.set_player_mode)
    monkeypatch.setattr(trial_orders, "initial_player_state", initial)
    monkeypatch.setattr("temporalio.workflow.patched", lambda _: True)
    return found


async def test_a_stop_during_the_launch_is_told_to_the_players_and_waits_for_them(temporal: Temporal) -> None:
    orders = TrialOrders(TrialState(trial="t", brief=cast(TrialBrief, SimpleNamespace())))
    learners = [cast(Learner, SimpleNamespace(player=name, generation=0)) for name in ("main", "exploiter")]
    launch = [asyncio.create_task(orders._start(learner)) for learner in learners]
    await asyncio.sleep(0)
    orders._state.mode = Mode.DRAIN
    await orders._send_mode_to_players()
    assert all(seat.ended for seat in orders._state.seats.values()), "nobody has a workflow yet"
    temporal.begins.set()
    await asyncio.gather(*launch)
    assert temporal.known == {"main": Mode.DRAIN, "exploiter": Mode.DRAIN}
    assert not any(seat.ended for seat in orders._state.seats.values()), "they report their end themselves"
