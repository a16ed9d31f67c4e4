"""Trials side by side over HTTP: what differs in their files, their curves, and games between their champions."""

from __future__ import annotations

import httpx

from api.store.core.ids import new_id
from tests.integration.api.league import readable_league
from tests.integration.api.server import Served
from tests.integration.api.test_trials import SPEC, make

COMPARE = "/api/v1/compare"


def test_what_differs_in_the_files_is_listed(operator: httpx.Client, viewer: httpx.Client) -> None:
    first = make(operator, spec=SPEC | {"seed": 1, "algorithm": {"learning_rate": 0.001}})
    second = make(operator, spec=SPEC | {"seed": 1, "algorithm": {"learning_rate": 0.01}})
    answer = viewer.get(COMPARE, params={"trial": [second["id"], first["id"]]})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["differences"] == [{"path": "algorithm.learning_rate", "values": [0.01, 0.001]}]
    assert [each["id"] for each in found["trials"]] == [second["id"], first["id"]], "in the order of the request"
    assert found["trials"][0]["label"] == f"p/{second['name']}"
    assert found["head_to_head"] == []


def test_curves_and_champions_come_from_the_records(api: Served, operator: httpx.Client) -> None:
    league, other = readable_league(api.sessions), make(operator)["id"]
    found = operator.get(COMPARE, params={"trial": [league.trial_id, other]}).json()
    trained = found["trials"][0]
    assert trained["champion_version_id"] == league.league.version_of("main").id, "it held an alias last"
    assert trained["champion"].startswith("main v")
    curves = {curve["name"]: curve for curve in trained["curves"]}
    assert "loss" in curves and found["trials"][1]["curves"] == []
    assert len(trained["generations"]) == len(trained["seconds"]) > 0
    assert trained["seconds"] == sorted(trained["seconds"]) and trained["seconds"][0] >= 0
    steps = [point["steps"] for point in trained["ratings"]]
    assert steps and steps == sorted(set(steps)), "one rating for each number of steps"
    assert trained["rating_fit_id"] and found["trials"][1]["ratings"] == []
    assert (trained["rating_zero"], found["trials"][1]["rating_zero"]) == ("rival v0", None)
    chosen = operator.get(COMPARE, params={"trial": [league.trial_id, other], "metric": "loss"}).json()
    assert [curve["name"] for curve in chosen["trials"][0]["curves"]] == ["loss"]


def test_what_cannot_be_compared_is_refused(operator: httpx.Client) -> None:
    trial = make(operator)["id"]
    alone = operator.get(COMPARE, params={"trial": [trial]})
    assert alone.status_code == 422 and alone.json()["errors"][0]["field"] == "query.trial"
    wrong = operator.get(COMPARE, params={"trial": [trial, "no-id"]})
    assert wrong.status_code == 422
    unknown = new_id()
    missing = operator.get(COMPARE, params={"trial": [trial, unknown]})
    assert missing.status_code == 404 and unknown in missing.json()["detail"]
