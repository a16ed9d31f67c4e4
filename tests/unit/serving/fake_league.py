"""An API with one project, an alias and some versions, which can be away; for both the follower and `lanista.load`."""

from __future__ import annotations

import json
from typing import Any

import httpx

from lanista.client import Client
from tests.unit.client.fake_api import NO_WAITING, URL, WHEN
from tests.unit.serving.made_versions import checkpoint_bytes, record_for


class FakeLeague:
    """Answers as the API does."""

    def __init__(self) -> None:
        self.versions: dict[str, bytes] = {}
        self.champion = ""
        self.revision = 0
        self.away = False
        self.reports: list[dict[str, Any]] = []
        self.refuse_reports: dict[str, int] = {}
        """Statuses by the id of a report."""
        self.downloads: list[str] = []
        self.sends_instead: dict[str, bytes] = {}
        """Other weights than those of a version."""
        self.archives: dict[str, bytes] = {}
        self.fetched: list[str] = []

    def connect(self) -> Client:
        """A client of this API."""
        return Client(URL, "token", transport=httpx.MockTransport(self._reply), retries=NO_WAITING)

    def add(self, number: int, **kind: Any) -> str:
        """A version of main; its id."""
        version_id = f"00000000-0000-7000-8000-{number:012d}"
        self.versions[version_id] = checkpoint_bytes(number, **kind)
        return version_id

    def promote(self, version_id: str) -> None:
        self.champion, self.revision = version_id, self.revision + 1

    def _reply(self, request: httpx.Request) -> httpx.Response:
        if self.away:
            raise httpx.ConnectError("nobody answers")
        return self.answer(request)

    def answer(self, request: httpx.Request) -> httpx.Response:
        """What the API answers; 503 while it is away."""
        if self.away:
            return httpx.Response(503, json=_problem(503))
        path = request.url.path.removeprefix("/api/v1/")
        if path == "projects":
            return _page([{"id": "p", "name": "board-games", "trials": 1, "running": 0, "created_at": WHEN}])
        if path.startswith("projects/board-games/aliases"):
            return self._alias(path.removeprefix("projects/board-games/aliases").strip("/"), request)
        if path.startswith("versions/"):
            return self._version(*path.removeprefix("versions/").partition("/")[::2])
        if path.startswith("code/"):
            self.fetched.append(path.removeprefix("code/"))
            archive = self.archives[self.fetched[-1]]
            return httpx.Response(200, content=archive, headers={"ETag": f'"{self.fetched[-1]}"'})
        return httpx.Response(404, json=_problem(404))

    def _alias(self, path: str, request: httpx.Request) -> httpx.Response:
        alias = {
            "name": "champion",
            "game": "tic_tac_toe",
            "version_id": self.champion,
            "revision": self.revision,
            "moved_at": WHEN,
        }
        if path == "champion/canaries" and request.method == "GET":
            return _page([_canary(report) for report in self.reports])
        if path == "champion/canaries":
            report = json.loads(request.content)
            status = self.refuse_reports.get(report["report_id"])
            if status is not None:
                return httpx.Response(status, json=_problem(status))
            self.reports.append(report)
            return httpx.Response(200, json=_canary(self.reports[-1]))
        if not path:
            return _page([alias] if self.champion else [])
        return (
            httpx.Response(200, json=alias)
            if self.champion and path == "champion"
            else httpx.Response(404, json=_problem(404))
        )

    def _version(self, version_id: str, rest: str) -> httpx.Response:
        data = self.versions[version_id]
        record = record_for(data)
        if rest == "checkpoint":
            self.downloads.append(version_id)
            data = self.sends_instead.get(version_id, data)
            return httpx.Response(200, content=data, headers={"ETag": f'"{record_for(data).sha256}"'})
        number = int(version_id[-12:])
        return httpx.Response(
            200,
            json={
                "id": version_id,
                "trial_id": "t",
                "player_id": "p",
                "player": "main",
                "number": number,
                "origin": "trained",
                "parent_id": None,
                "steps": 1,
                "uri": "file:///x",
                "sha256": record.sha256,
                "size": len(data),
                "commit": 1,
                "created_at": WHEN,
                "returns": None,
                "aliases": [],
                "lineage": [],
                "pruned_at": None,
            },
        )


def _page(items: list[Any]) -> httpx.Response:
    return httpx.Response(200, json={"items": items, "next_cursor": None})


def _problem(status: int) -> dict[str, Any]:
    return {"title": "no", "status": status, "detail": "there is no such thing"}


def _canary(report: dict[str, Any]) -> dict[str, Any]:
    same = ("champion_version_id", "canary_version_id", "losses", "draws", "wins", "champion_sessions")
    return {name: report[name] for name in same} | {
        "canary_sessions": report["canary_sessions"],
        "game": "tic_tac_toe",
        "status": "running",
        "llr": 0.0,
        "lower_bound": -2.9,
        "upper_bound": 2.9,
        "elo0": 0,
        "elo1": 35,
        "champion_mean_return": None,
        "canary_mean_return": None,
        "first_reported_at": WHEN,
        "last_reported_at": WHEN,
    }
