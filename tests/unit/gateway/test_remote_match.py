"""Matches of games that call in: every game once, whatever gateways do."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from league.types import VersionId
from tests.unit.gateway.league_games import GAME, GatewayThread
from workers.games.names import make_game
from workers.gateway.league.demand import games_of
from workers.gateway.league.frames import Frame
from workers.gateway.league.links import Arrived, Links
from workers.matches.host import MatchHost
from workers.matches.remote import play_remote_match
from workers.matches.result import MatchResult
from workers.matches.task import BadMatch, Entrant, MatchStopped, MatchTask, Randomness
from workers.user_errors import UserCodeError

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
    told: list[tuple[int, int]] = []
    with pytest.raises(MatchStopped, match="0 of 4 games"):
        play_remote_match(
            match(2), SPEC, links, lambda *now: told.append(now), should_stop=lambda: time.monotonic() > end
        )
    assert told == [(0, 4)], "to look is no progress, or a match that stalls would never be noticed"
    links.close()
    gateway.stop()


class FakeLinks:
    """A gateway that begins every game, and then says what `end` makes of it."""

    def __init__(self, end: Callable[[int], Frame], at_once: int = 1) -> None:
        self._end, self._at_once = end, at_once
        self._arrived: deque[Arrived] = deque()
        self.connected = [0]

    def forget(self) -> None:
        """Nothing has arrived."""

    def send(self, link: int, frame: Frame) -> None:
        if frame.kind == "games":
            id, games = frame.fields["id"], [each.game for each in games_of(frame)]
            for at in range(0, len(games), self._at_once):
                together = games[at : at + self._at_once]
                begun = [Frame("begun", {"id": id, "game": game}) for game in together]
                ended = [self._end(game) for game in together]
                self._arrived += [Arrived(0, Frame(each.kind, {"id": id, **each.fields})) for each in begun + ended]

    def send_all(self, frame: Frame) -> None:
        self.send(0, frame)

    def next(self, seconds: float) -> Arrived | None:
        return self._arrived.popleft() if self._arrived else None


def aborted(game: int, reason: str) -> Frame:
    return Frame("unplayed", {"games": [game], "reason": reason})


def test_games_that_are_always_aborted_end_the_match_with_the_last_reason() -> None:
    links: Any = FakeLinks(lambda game: aborted(game, "the game says that 'x' played seat 0"))
    with pytest.raises(UserCodeError, match=r"20 games in a row were aborted; the last: the game says that 'x' played"):
        play_remote_match(match(2), SPEC, links)


def test_games_that_are_aborted_together_are_played_again() -> None:
    """As when a process of the game ends that had them all."""
    ended: set[int] = set()

    def end(game: int) -> Frame:
        if game in ended:
            return Frame("played", {"game": game, "returns": [1.0, -1.0], "ticks": 5, "truncated": False})
        ended.add(game)
        return aborted(game, "no request came for 60 s")

    links: Any = FakeLinks(end, at_once=60)
    assert len(play_remote_match(match(30), SPEC, links).games) == 60


def test_a_match_needs_a_gateway_and_has_no_openings(tmp_path: Path) -> None:
    with pytest.raises(BadMatch, match="LANISTA_GATEWAYS"):
        MatchHost(str(tmp_path)).play(match(1))
    openings = replace(match(1), randomness=Randomness(opening_plies=2))
    with pytest.raises(BadMatch, match="openings"):
        openings.check(SPEC)
