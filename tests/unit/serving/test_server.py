"""A serving gateway over real HTTP: it plays, follows its alias under load, and goes on without the API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanista.serving.followed import Followed
from lanista.serving.server import ServeBuild, ServeOptions
from orchestrator.storage.recorded_games import RecordedGames
from tests.unit.gateway.fakes import HttpClient, connected
from tests.unit.serving.fake_league import FakeLeague
from tests.unit.serving.made_versions import made_version
from workers.agents.agent_set import load_agents
from workers.agents.generic import GenericAgent
from workers.gateway.options import GatewayOptions
from workers.gateway.recording.files import decode_game
from workers.gateway.recording.replaying import replay_game
from workers.gateway.server import Gateway
from workers.serving.versions import UnservableVersion, load_version, searching

OBSERVATION = np.zeros((2, 3, 3)).tolist()


@pytest.fixture
def league() -> FakeLeague:
    made = FakeLeague()
    made.promote(made.add(1))
    return made


@asynccontextmanager
async def serving(
    league: FakeLeague, folder: Path, canary: str | None = None, **options: Any
) -> AsyncIterator[Gateway]:
    followed = Followed(project="board-games", alias="champion", canary=canary)
    build = ServeBuild(league.connect, ServeOptions(followed=followed, cache=folder, interval=0.02, **options))
    async with Gateway(GatewayOptions()) as gateway:
        await build(gateway)
        await gateway.listen()
        yield gateway


async def tick(client: HttpClient, session: str, seat: int = 0) -> Any:
    body = json.dumps({"obs": OBSERVATION, "legal": [1] * 9, "seat": seat}).encode()
    status, answer = await client.step("tick", session, body)
    assert status == 200, answer
    return json.loads(answer)["action"]


async def health(client: HttpClient) -> dict[str, Any]:
    status, answer = await client.get("/health")
    assert status == 200
    found: dict[str, Any] = json.loads(answer)
    return found


async def until(condition: Any) -> None:
    async with asyncio.timeout(30):
        while not await condition():
            await asyncio.sleep(0.01)


async def test_a_game_plays_against_the_champion_and_its_result_is_taken(league: FakeLeague, tmp_path: Path) -> None:
    wanted = load_version(league.versions[league.champion], _record()).actor
    async with serving(league, tmp_path) as gateway, connected(HttpClient, gateway.ports["http"]) as client:
        status, started = await client.step("start", "one")
        assert status == 200 and json.loads(started)["info"]["version"] == "main:1"
        rows = {"obs": np.zeros((1, 2, 3, 3), np.float32), "legal": np.ones((1, 9), np.bool_)}
        assert await tick(client, "one") == wanted.act(rows, None)["action"][0]
        status, _ = await client.step("end", "one", json.dumps({"returns": [1, -1]}).encode())
        assert status == 200
        _, text = await client.get("/metrics")
        assert b'lanista_serving_sessions_total{process="0",version="main:1",outcome="finished"} 1' in text
        assert b'lanista_serving_version_info{process="0",role="champion",version="main:1"} 1' in text
        found = await health(client)
        assert found["versions"] == {"champion": "main:1"} and found["api_reachable"] is True


async def test_every_nth_session_is_recorded_and_replays(league: FakeLeague, tmp_path: Path) -> None:
    where = str(tmp_path / "recorded")
    async with (
        serving(league, tmp_path / "cache", dump_every=2, artifacts=where) as gateway,
        connected(HttpClient, gateway.ports["http"]) as client,
    ):
        for number in range(3):
            await client.step("start", f"game-{number}")
            await tick(client, f"game-{number}")
            await client.step("end", f"game-{number}", b'{"returns": [1, -1]}')
    games = RecordedGames(where)
    found = games.newest(None, 10)
    assert [each.session for each in found] == ["game-2", "game-0"]
    assert (found[0].returns, found[0].players, found[0].info["version"]) == ([1, -1], ["main:1"] * 2, "main:1")
    data = games.get(None, found[0].id)
    assert data is not None
    report = await replay_game(decode_game(data), load_agents(GenericAgent))
    assert (report.ticks, report.decisions, report.differences) == (1, 1, [])


async def test_no_request_is_lost_while_the_alias_moves(league: FakeLeague, tmp_path: Path) -> None:
    versions = [league.champion, *(league.add(number) for number in range(2, 6))]
    played: set[str] = set()
    moving = True

    async def play(port: int, number: int) -> int:
        ticks = 0
        async with connected(HttpClient, port) as client:
            while moving:
                status, started = await client.step("start", f"game-{number}")
                assert status == 200, started
                played.add(json.loads(started)["info"]["version"])
                for _ in range(10):
                    await tick(client, f"game-{number}")
                    ticks += 1
                status, ended = await client.step("end", f"game-{number}", b'{"returns": [0, 0]}')
                assert status == 200, ended
        return ticks

    async def move(gateway: Gateway) -> None:
        nonlocal moving
        async with connected(HttpClient, gateway.ports["http"]) as client:
            for number in range(10):
                version = versions[(number + 1) % len(versions)]  # forwards, and back to earlier ones
                league.promote(version)
                name = f"main:{int(version[-12:])}"
                await until(lambda name=name: _serves(client, name))
        moving = False

    async with serving(league, tmp_path) as gateway:
        ticks = await asyncio.gather(move(gateway), *(play(gateway.ports["http"], number) for number in range(8)))
        assert gateway.metrics.refused == {} and gateway.metrics.aborted == {}
    assert len(played) == 5 and sum(count for count in ticks if count) > 100
    assert len(league.downloads) == 5, "a rollback finds its weights on disk"


async def test_it_starts_and_plays_without_the_api_and_catches_up(league: FakeLeague, tmp_path: Path) -> None:
    async with serving(league, tmp_path):
        pass
    league.away = True
    async with serving(league, tmp_path) as gateway, connected(HttpClient, gateway.ports["http"]) as client:
        await client.step("start", "one")
        await tick(client, "one")
        found = await health(client)
        assert found["api_reachable"] is False and "nobody answers" in found["problem"]
        league.promote(league.add(2))
        league.away = False
        await until(lambda: _serves(client, "main:2"))
        await tick(client, "one")


async def test_a_canarys_results_are_reported(league: FakeLeague, tmp_path: Path) -> None:
    canary = league.add(2)
    async with (
        serving(league, tmp_path, canary=canary, share=0.5, seats=(0,)) as gateway,
        connected(HttpClient, gateway.ports["http"]) as client,
    ):
        for number in range(40):
            _, started = await client.step("start", f"g{number}")
            version = json.loads(started)["info"]["version"]
            await tick(client, f"g{number}")
            won = version == "main:2"
            await client.step("end", f"g{number}", json.dumps({"returns": [1, -1] if won else [-1, 1]}).encode())
    (report,) = league.reports
    assert report["canary_version_id"] == canary and report["champion_sessions"] + report["canary_sessions"] == 40
    assert report["wins"] == min(report["champion_sessions"], report["canary_sessions"]) and report["losses"] == 0


async def test_a_version_that_does_not_fit_is_refused_and_told(league: FakeLeague, tmp_path: Path) -> None:
    async with serving(league, tmp_path) as gateway, connected(HttpClient, gateway.ports["http"]) as client:
        league.promote(league.add(2, game="connect_four"))
        await until(lambda: _refused(client))
        assert (await health(client))["versions"] == {"champion": "main:1"}
        await client.step("start", "one")
        await tick(client, "one")


async def _serves(client: HttpClient, name: str) -> bool:
    return bool((await health(client))["versions"]["champion"] == name)


async def _refused(client: HttpClient) -> bool:
    return "need equal ones" in (await health(client))["refused"].get("champion", "")


def _record() -> Any:
    from tests.unit.serving.made_versions import record_for

    return record_for(b"")


async def test_a_served_version_searches(league: FakeLeague, tmp_path: Path) -> None:
    async with serving(league, tmp_path, search=200) as gateway, connected(HttpClient, gateway.ports["http"]) as client:
        _, started = await client.step("start", "one")
        assert json.loads(started)["info"]["version"] == "main:1+search-200"
        mine, theirs = [1, 1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0, 0]
        body = json.dumps({"obs": np.reshape([mine, theirs], (2, 3, 3)).tolist(), "legal": [1] * 9, "seat": 0}).encode()
        status, answer = await client.step("tick", "one", body)
        assert status == 200 and json.loads(answer)["action"] == 2, "it completes the row"


def test_a_version_that_cannot_search_is_refused_by_name() -> None:
    with pytest.raises(UnservableVersion, match="main:1 cannot search: kuhn_poker: a served search"):
        searching(made_version(game="kuhn_poker"), 8)
