"""Recorded games over HTTP: listed, downloaded, and drawn by a worker once."""

from __future__ import annotations

from pathlib import Path

import httpx

from orchestrator.storage.recorded_games import RecordedGames, RecordedSummary
from tests.integration.api.test_trials import make


def keep(artifacts: Path, trial: str, number: int) -> str:
    id = f"{number:013d}-0123abcd"
    summary = RecordedSummary(
        id=id,
        session=f"game-{number}",
        started_at=1.5,
        seconds=2.0,
        ticks=3,
        size=4,
        players=["main:1", ""],
        returns=[1.0, -1.0],
    )
    RecordedGames(str(artifacts)).put(trial, summary, f"file {number}".encode(), keep=10)
    return id


def test_games_are_listed_page_by_page_and_downloaded(operator: httpx.Client, artifacts: Path) -> None:
    trial = make(operator)["id"]
    root = f"/api/v1/trials/{trial}/recorded-games"
    assert operator.get(root).json() == {"items": [], "next_cursor": None}
    ids = [keep(artifacts, trial, number) for number in range(3)]
    first = operator.get(root, params={"limit": 2}).json()
    assert [game["session"] for game in first["items"]] == ["game-2", "game-1"]
    assert first["items"][0]["started_at"] == "1970-01-01T00:00:01.500000Z"
    assert first["items"][0]["players"] == ["main:1", ""]
    second = operator.get(root, params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert ([game["id"] for game in second["items"]], second["next_cursor"]) == ([ids[0]], None)
    assert operator.get(f"{root}/{ids[1]}").content == b"file 1"
    assert operator.get(f"{root}/{9:013d}-0123abcd").status_code == 404
    assert operator.get(f"{root}/..%2F..%2Fcheckpoint").status_code in (404, 422)
    assert operator.get("/api/v1/trials/00000000-0000-7000-8000-000000000000/recorded-games").status_code == 404


def test_a_picture_needs_a_function_that_draws(operator: httpx.Client, artifacts: Path) -> None:
    trial = make(operator)["id"]
    id = keep(artifacts, trial, 1)
    picture = f"/api/v1/trials/{trial}/recorded-games/{id}/picture"
    refused = operator.get(picture)
    assert refused.status_code == 409
    assert "names no function that draws" in refused.json()["detail"]
    RecordedGames(str(artifacts)).put_picture(trial, id, b"GIF89a")
    answer = operator.get(picture)
    assert (answer.content, answer.headers["content-type"]) == (b"GIF89a", "image/gif")
