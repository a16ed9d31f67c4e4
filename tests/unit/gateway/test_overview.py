"""What gateways tell the train worker about themselves."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from orchestrator.contracts.interactive import GatewaysRequest
from tests.unit.gateway.league_games import GatewayThread
from workers.activities.gateways import GatewayActivities
from workers.gateway.league.access import GatewayAccess
from workers.gateway.league.overview import GatewayLoad
from workers.gateway.limits import TICK_SECONDS, Clock
from workers.gateway.metrics import GatewayMetrics

GONE = "127.0.0.1:1"


def test_all_gateways_are_asked_and_one_that_is_away_has_a_problem(tmp_path: Path) -> None:
    gateway = GatewayThread(tmp_path, gamecores=0)
    access = replace(gateway.access, addresses=(*gateway.access.addresses, GONE))
    activities = GatewayActivities(access)
    waiting = asyncio.run_coroutine_threadsafe(_ask_for_a_game(gateway), gateway.loop)
    waiting.result(10)
    for _ in range(2):  # the second time over the connections of the first
        here, away = activities.describe_gateways(GatewaysRequest()).gateways
        assert (here.problem, here.address) == ("", access.addresses[0])
        assert [(game.name, game.gamecores_waiting) for game in here.games] == [("chess", 1)]
        assert away.address == GONE and "refused" in away.problem
    gateway.stop()
    (gone, _) = activities.describe_gateways(GatewaysRequest()).gateways
    assert gone.problem and not gone.games


async def _ask_for_a_game(gateway: GatewayThread) -> None:
    gateway.director.next_game(60, lambda told: None, "chess")


def test_without_a_gateway_there_is_nothing_to_ask() -> None:
    for access in (None, GatewayAccess()):
        assert GatewayActivities(access).describe_gateways(GatewaysRequest()).gateways == []


def test_steps_a_second_are_those_of_the_last_interval() -> None:
    metrics, clock = GatewayMetrics(), Clock()
    load = GatewayLoad(metrics, clock)
    metrics.requests["tcp"] += 600
    metrics.requests["http"] += 200
    metrics.sessions, metrics.connections = 7, 8
    (look,) = clock._sweeps
    look(1.0)
    assert load.described()["ticks_per_s"] == 0
    look(2.0)
    assert load.described() == {"connections": 8, "sessions": 7, "ticks_per_s": 400.0}
    look(4.0 + TICK_SECONDS)
    assert load.described()["ticks_per_s"] == 0
