"""Matches of games that call in: every game once, whatever gateways do."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from league.types import VersionId
from tests.unit.gateway.league_games import GAME, GatewayThread
from workers.games.names import make_game
from workers.gateway.league.links import Links
from workers.matches.host import MatchHost
from workers.matches.remote import play_remote_match
from workers.matches.result import MatchResult
from workers.matches.task import BadMatch, Entrant, MatchStopped, MatchTask, Randomness

SPEC = make_game(GAME.id, 1, **GAME.options).spec


def match(pairs: int) -> MatchTask:
    entrants = tuple(Entrant(id=VersionId(name), bot=name) for name in ("random", "outside-house"))
    return MatchTask(game=GAME, entrants=entrants, pairs=pairs, seed=5)


def linked(*gateways: GatewayThread) -> Links:
    addresses = tuple(each.access.addresses[0] for each in gateways)
    return Links(replace(gateways[0].access, addresses=addresses), "a match")


def check(result: MatchResult, pairs: int) -> None:
    assert len(result.games) == 2 * pairs
    assert [game.pair for game in result.games] == [pair for pair in range(pairs) for _ in range(2)]
    assert {game.seating for game in result.games} == {(0, 1), (1, 0)}
    assert all(sum(game.returns) == 0 and game.length > 0 for game in result.games)
    assert sum(tally.wins + tally.draws + tally.losses for tally in result.tallies()) == 2 * pairs


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[GatewayThread]:
    thread = GatewayThread(tmp_path)
    yield thread
    thread.stop()


def test_a_host_plays_a_match_on_connected_gamecores(gateway: GatewayThread, tmp_path: Path) -> None:
    host = MatchHost(str(tmp_path), gateways=gateway.access)
    check(host.play(match(20)), 20)
    assert host.progress() == (40, 40)
    check(host.play(match(3)), 3)  # over the same connections


def test_games_of_a_gateway_that_dies_are_played_elsewhere(tmp_path: Path) -> None:
    first, second = GatewayThread(tmp_path), GatewayThread(tmp_path)
    links = linked(first, second)
    threading.Timer(0.1, first.stop).start()
    check(play_remote_match(match(200), SPEC, links), 200)
    links.close()
    second.stop()


def test_games_go_where_gamecores_are(tmp_path: Path) -> None:
    idle, busy = GatewayThread(tmp_path, gamecores=0), GatewayThread(tmp_path)
    links = linked(idle, busy)
    check(play_remote_match(match(6), SPEC, links), 6)
    links.close()
    idle.stop()
    busy.stop()


def test_a_match_without_gamecores_waits_until_it_is_stopped(tmp_path: Path) -> None:
    gateway = GatewayThread(tmp_path, gamecores=0)
    links = linked(gateway)
    end = time.monotonic() + 0.5
    with pytest.raises(MatchStopped, match="0 of 4 games"):
        play_remote_match(match(2), SPEC, links, should_stop=lambda: time.monotonic() > end)
    links.close()
    gateway.stop()


def test_a_match_needs_a_gateway_and_has_no_openings(tmp_path: Path) -> None:
    with pytest.raises(BadMatch, match="LANISTA_GATEWAYS"):
        MatchHost(str(tmp_path)).play(match(1))
    openings = replace(match(1), randomness=Randomness(opening_plies=2))
    with pytest.raises(BadMatch, match="openings"):
        openings.check(SPEC)
