"""An API that answers from a list, for both clients; and values as the real one sends them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import islice
from typing import Any

import httpx

from lanista.client import AsyncClient, Client, Retries

URL = "http://lanista.test"
NO_WAITING = Retries(attempts=4, first_wait=0, longest_wait=0)
WHEN = "2030-01-01T00:00:00Z"
EVENT_STREAM = {"Content-Type": "text/event-stream"}

Reply = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


class FakeApi(httpx.MockTransport):
    """Gives its replies one after the other, the last one for ever, and remembers the requests."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__(self._answer)
        self.requests: list[httpx.Request] = []
        self._replies = list(replies)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, Exception):
            raise reply
        if callable(reply):
            return reply(request)
        if isinstance(reply.stream, Stream):
            return reply
        # a fresh one each time: httpx marks what it has read
        return httpx.Response(reply.status_code, headers=reply.headers, content=reply.content)


class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """Chunks, and then an end: polite, or an error."""

    def __init__(self, *chunks: bytes, error: Exception | None = None) -> None:
        self._chunks = chunks
        self._error = error

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks
        if self._error is not None:
            raise self._error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk


class Caller:
    """One of the two clients behind one face, so that a test holds for both."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def call(self, api: FakeApi, ask: Callable[[Any], Any], retries: Retries = NO_WAITING) -> Any:
        """The answer of a call."""
        if self._kind == "blocking":
            with Client(URL, "secret", retries=retries, transport=api) as client:
                return ask(client)

        async def run() -> Any:
            async with AsyncClient(URL, "secret", retries=retries, transport=api) as client:
                return await ask(client)

        return asyncio.run(run())

    def take(self, api: FakeApi, ask: Callable[[Any], Any], count: int, retries: Retries = NO_WAITING) -> list[Any]:
        """The first items of an iterator, or all of them if there are fewer."""
        if self._kind == "blocking":
            with Client(URL, "secret", retries=retries, transport=api) as client:
                return list(islice(ask(client), count))

        async def run() -> list[Any]:
            items: list[Any] = []
            async with AsyncClient(URL, "secret", retries=retries, transport=api) as client:
                iterator = ask(client)
                while len(items) < count:
                    try:
                        items.append(await anext(iterator))
                    except StopAsyncIteration:
                        break
                await iterator.aclose()
            return items

        return asyncio.run(run())


def page(*items: dict[str, Any], next_cursor: str | None = None) -> httpx.Response:
    return httpx.Response(200, json={"items": list(items), "next_cursor": next_cursor})


def problem(status: int, detail: str = "", **more: Any) -> httpx.Response:
    body = {"type": "about:blank", "title": "A problem", "status": status, "detail": detail, **more}
    return httpx.Response(status, json=body, headers={"Content-Type": "application/problem+json"})


def an_id(number: int) -> str:
    return f"00000000-0000-7000-8000-{number:012d}"


def a_trial(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": an_id(number),
        "project": "games",
        "name": f"trial-{number}",
        "game": "tic_tac_toe",
        "seed": 7,
        "status": "running",
        "status_reason": None,
        "revision": 1,
        "steps": 1000,
        "budget_steps": 4000,
        "last_commit": 3,
        "payoff_revision": 3,
        "forked_from_trial_id": None,
        "forked_at_commit": None,
        "created_at": WHEN,
        "started_at": WHEN,
        "finished_at": None,
        "archived_at": None,
        "spec": {"game": {"id": "tic_tac_toe"}, "budget": {"steps": 4000}},
        **changes,
    }


def a_player(number: int, name: str, role: str = "main", **changes: Any) -> dict[str, Any]:
    return {
        "id": an_id(number),
        "trial_id": an_id(1),
        "name": name,
        "role": role,
        "status": "active",
        "bot": "random" if role == "bot" else None,
        "parent_id": None,
        "forked_from_player_id": None,
        "hyperparameters": {},
        "revision": 1,
        "created_commit": number,
        "generation": 2,
        "steps": 1000,
        "steps_at_snapshot": 0,
        "version_id": an_id(number + 100),
        "version_number": 2,
        "created_at": WHEN,
        "retired_at": None,
        **changes,
    }


def a_payoff(*players: dict[str, Any]) -> dict[str, Any]:
    """The first beat the second 3 to 1, with a draw; nobody else met."""
    size = range(len(players))
    rates: list[list[float | None]] = [[None for _ in size] for _ in size]
    wins = [[0 for _ in size] for _ in size]
    rates[0][1], rates[1][0] = 0.7, 0.3
    wins[0][1], wins[1][0] = 3, 1
    losses = [[wins[column][row] for column in size] for row in size]
    draws = [[1 if wins[row][column] else 0 for column in size] for row in size]
    return {
        "trial_id": an_id(1),
        "stream": "all",
        "revision": 3,
        "decay": 0.99,
        "min_games": 1,
        "players": [{key: player[key] for key in ("id", "name", "role", "status")} for player in players],
        "win_rate": rates,
        "low": rates,
        "high": rates,
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "mean_return": [[None if rate is None else 2 * rate - 1 for rate in row] for row in rates],
    }


def a_rating(number: int, player: str, value: float, **changes: Any) -> dict[str, Any]:
    return {
        "rank": 1,
        "version_id": an_id(number + 100),
        "player_id": an_id(number),
        "player": player,
        "number": 2,
        "steps": 900,
        "value": value,
        "deviation": 10.0,
        "low": value - 19.6,
        "high": value + 19.6,
        "games": 40,
        "prior": False,
        "difference": None,
        "difference_low": None,
        "difference_high": None,
        **changes,
    }


def a_version(number: int, player: str = "main") -> dict[str, Any]:
    return {
        "id": an_id(200 + number),
        "trial_id": an_id(1),
        "player_id": an_id(2),
        "player": player,
        "number": number,
        "origin": "trained",
        "parent_id": None,
        "steps": 10 * number,
        "uri": "memory://weights",
        "sha256": "00",
        "size": 7,
        "commit": number,
        "created_at": WHEN,
        "aliases": [],
        "lineage": [],
        "pruned_at": None,
        "returns": None,
    }


def a_schedule(number: int, *, project: str = "games") -> dict[str, Any]:
    return {
        "id": an_id(number),
        "project": project,
        "trial_id": None,
        "name": "nightly",
        "cron": "0 3 * * *",
        "every_seconds": None,
        "time_zone": "UTC",
        "overlap": "skip",
        "catchup_window_seconds": 3600,
        "paused": False,
        "pause_note": None,
        "last_error": None,
        "revision": 1,
        "taken": True,
        "created_at": WHEN,
        "tournament": {},
    }


A_RETURN = {
    "player_id": an_id(2),
    "player": "main",
    "name": "return_mean",
    "generations": [2],
    "steps": [1000],
    "values": [187.5],
}


IDLE: dict[str, Any] = {"generations": [], "troubles": []}


def a_list(*trials: Any) -> Callable[[httpx.Request], httpx.Response]:
    """These trials, none of which has a generation under way."""

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=IDLE) if request.url.path.endswith("/progress") else page(*trials)

    return answer


def a_league(**trial: Any) -> Callable[[httpx.Request], httpx.Response]:
    """A small league by its paths, as `Client.league` asks for it."""
    players = [a_player(2, "main"), a_player(3, "random", "bot"), a_player(4, "main-1", "historical")]
    fit = {
        "id": an_id(50),
        "method": "bradley_terry",
        "games": 40,
        "last_match_id": 9,
        "anchor_version_id": an_id(103),
        "tournament_id": None,
        "settings": {},
        "depends_on_order": False,
        "created_at": WHEN,
    }
    alias = {"name": "champion", "game": "tic_tac_toe", "version_id": an_id(104), "revision": 1, "moved_at": WHEN}
    answers = {
        "players": {"items": players, "next_cursor": None},
        "aliases": {"items": [alias], "next_cursor": None},
        "payoff": a_payoff(*players),
        "ratings": {"fit": fit, "items": [a_rating(2, "main", 120.0), a_rating(3, "random", 0.0)], "next_cursor": None},
        "trials": {"items": [a_trial(**trial)], "next_cursor": None},
        "metrics": {"items": [A_RETURN], "next_cursor": None},
        "progress": IDLE,
        "events": None,
    }

    def answer(request: httpx.Request) -> httpx.Response:
        last = request.url.path.rpartition("/")[2]
        return httpx.Response(200, json=answers.get(last, a_trial(**trial)))

    return answer
