"""Results of canaries: recorded once however often they are sent, and judged by the league's test."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from api.schemas.canaries import Canary
from api.store.core.ids import new_id
from league.gates import Sprt
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.server import Served


@pytest.fixture(scope="module")
def readable(api: Served) -> ReadableLeague:
    return readable_league(api.sessions)


@pytest.fixture
def path(readable: ReadableLeague) -> str:
    return f"/api/v1/projects/board-games/aliases/champion-{readable.trial_id[-12:]}/canaries"


@pytest.fixture
def report(readable: ReadableLeague) -> dict[str, Any]:
    return {
        "report_id": new_id(),
        "champion_version_id": readable.league.version_of("main").id,
        "canary_version_id": readable.league.version_of("rival").id,
        "losses": 10,
        "draws": 5,
        "wins": 15,
        "champion_sessions": 270,
        "champion_returns": 27.0,
        "canary_sessions": 30,
        "canary_returns": 6.0,
    }


def test_reports_add_up_once_and_the_verdict_stays(
    operator: httpx.Client, viewer: httpx.Client, path: str, report: dict[str, Any]
) -> None:
    assert viewer.get(path).json() == {"items": [], "next_cursor": None}
    first = operator.post(path, json=report)
    again = operator.post(path, json=report)
    assert first.status_code == again.status_code == 200, first.text
    assert first.json() == again.json()
    one = Canary.model_validate(first.json())
    assert (one.losses, one.draws, one.wins, one.champion_sessions) == (10, 5, 15, 270)
    assert (one.champion_mean_return, one.canary_mean_return, one.status) == (0.1, 0.2, "running")
    assert one.llr == pytest.approx(Sprt().judge([10, 5, 15]).llr)
    won = operator.post(path, json=report | {"report_id": new_id(), "losses": 0, "wins": 200}).json()
    assert (won["status"], won["wins"]) == ("passed", 215)
    lost = operator.post(path, json=report | {"report_id": new_id(), "losses": 900, "wins": 0}).json()
    assert (lost["status"], lost["llr"], lost["losses"]) == ("passed", won["llr"], 910)
    assert viewer.get(path).json()["items"] == [lost]


def test_canaries_are_listed_page_by_page(
    operator: httpx.Client, readable: ReadableLeague, path: str, report: dict[str, Any]
) -> None:
    other = report | {
        "report_id": new_id(),
        "champion_version_id": report["canary_version_id"],
        "canary_version_id": report["champion_version_id"],
    }
    for each in (report, other):
        assert operator.post(path, json=each).status_code == 200
    whole = operator.get(path).json()
    first = operator.get(path, params={"limit": 1}).json()
    rest = operator.get(path, params={"cursor": first["next_cursor"]}).json()
    assert first["items"] + rest["items"] == whole["items"] and len(whole["items"]) == 2
    assert whole["next_cursor"] is None and rest["next_cursor"] is None


def test_wrong_reports_are_refused_with_what_is_wrong(
    operator: httpx.Client, viewer: httpx.Client, path: str, report: dict[str, Any]
) -> None:
    same = operator.post(path, json=report | {"canary_version_id": report["champion_version_id"]})
    assert same.status_code == 409 and "the canary is the champion itself" in same.json()["detail"]
    empty = operator.post(path, json=report | {"champion_sessions": 0, "canary_sessions": 0})
    assert empty.status_code == 409 and "no sessions" in empty.json()["detail"]
    assert operator.post(path, json=report | {"canary_version_id": new_id()}).status_code == 404
    assert operator.post(path, json=report | {"wins": -1}).status_code == 422
    assert operator.post(path, json=report | {"canary_returns": "NaN"}).status_code == 422
    assert viewer.post(path, json=report).status_code == 403
