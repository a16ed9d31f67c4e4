"""Sweeps over HTTP: made once, ordered about, listed with their trials, and refused field by field."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.schemas.enums import Scope
from api.store.core.ids import new_id
from orchestrator.spec.sweeps import optuna_extra
from tests.integration.api.server import Served, running_api
from tests.integration.api.test_trials import until
from tests.unit.spec.test_sweep_file import sweep as sweep_file

SWEEPS = "/api/v1/sweeps"
FINAL = ("stopped", "completed", "failed")


def body(**changes: Any) -> dict[str, Any]:
    spec = sweep_file(method="random", trials=2, parallel=1, **changes.pop("spec", {}))
    return {"project": "swept", "name": f"s-{new_id()[-12:]}", "spec": spec} | changes


def make(client: httpx.Client, **changes: Any) -> dict[str, Any]:
    answer = client.post(SWEEPS, json=body(**changes))
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def show(client: httpx.Client, sweep_id: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"{SWEEPS}/{sweep_id}").json()
    return found


def trials(client: httpx.Client, sweep_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"{SWEEPS}/{sweep_id}/trials").json()["items"]
    return found


def reach(client: httpx.Client, sweep_id: str, status: str) -> None:
    until(lambda: show(client, sweep_id)["status"] == status)


@pytest.fixture
def running(operator: httpx.Client) -> Iterator[dict[str, Any]]:
    """A sweep whose first trial trains: no worker takes up its generation."""
    made = make(operator)
    reach(operator, made["id"], "running")
    until(lambda: [each["status"] for each in trials(operator, made["id"])] == ["running"])
    yield made
    if show(operator, made["id"])["status"] not in (*FINAL, "stopping"):
        operator.post(f"{SWEEPS}/{made['id']}/stop")
    until(lambda: show(operator, made["id"])["status"] in FINAL)


def test_a_sweep_is_made_started_and_shown(operator: httpx.Client, running: dict[str, Any]) -> None:
    assert (running["status"], running["trials"], running["trials_started"]) == ("pending", 2, 0)
    assert (running["most_steps"], running["rungs"]) == (18_000, [9_000])
    shown = show(operator, running["id"])
    assert shown["trials_started"] == 1, "parallel is 1"
    assert shown["best_trial_id"] is None and shown["started_at"]
    assert shown["spec"]["metric"]["name"] == "return", "defaults are filled in"
    (trial,) = trials(operator, running["id"])
    assert (trial["number"], trial["name"]) == (0, f"{running['name']}-000")
    point = trial["point"]["algorithm.learning_rate"]
    assert 1e-4 <= point <= 1e-2
    stored = operator.get(f"/api/v1/trials/{trial['trial_id']}").json()
    assert stored["spec"]["algorithm"]["learning_rate"] == point
    assert stored["spec"]["budget"]["steps"] == 9_000
    assert operator.get(f"{SWEEPS}/{running['id']}/importances").status_code == 200


def test_a_sweep_is_paused_resumed_and_stopped_with_its_trial(
    operator: httpx.Client, running: dict[str, Any], admin: httpx.Client
) -> None:
    path = f"{SWEEPS}/{running['id']}"
    early = operator.post(f"{path}/resume")
    assert (early.status_code, early.json()["sweep_status"]) == (409, "running")
    assert "possible while it is paused" in early.json()["detail"]
    key = {"Idempotency-Key": new_id()}
    paused = operator.post(f"{path}/pause", headers=key)
    assert (paused.status_code, paused.json()["status"]) == (200, "paused")
    until(lambda: trials(operator, running["id"])[0]["status"] in ("pausing", "paused"))
    assert operator.post(f"{path}/resume").json()["status"] == "running"
    repeated = operator.post(f"{path}/pause", headers=key)
    assert repeated.json()["status"] == "paused", "the first answer, and no second pause"
    assert show(operator, running["id"])["status"] == "running"
    stopped = operator.post(f"{path}/stop", json={"reason": "enough"})
    assert stopped.json()["status"] in ("stopping", "stopped")
    reach(operator, running["id"], "stopped")
    assert show(operator, running["id"])["status_reason"] == "enough"
    (trial,) = trials(operator, running["id"])
    assert trial["status"] == "stopped" and "enough" in trial["status_reason"]
    late = operator.post(f"{path}/stop")
    assert (late.status_code, late.json()["sweep_status"]) == (409, "stopped")
    lines = admin.get("/api/v1/audit", params={"limit": 200}).json()["items"]
    done = [line["action"] for line in lines if line["target"] == f"sweep/{running['id']}"]
    assert sorted(done) == ["sweep.create", "sweep.pause", "sweep.resume", "sweep.stop"]


def test_a_repeated_request_makes_one_sweep(operator: httpx.Client) -> None:
    wanted, key = body(project="swept-once"), {"Idempotency-Key": new_id()}
    answers = [operator.post(SWEEPS, json=wanted, headers=key) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    assert len({answer.content for answer in answers}) == 1
    made = answers[0].json()
    assert answers[0].headers["location"] == f"{SWEEPS}/{made['id']}"
    listed = operator.get(SWEEPS, params={"project": "swept-once"}).json()
    assert [each["id"] for each in listed["items"]] == [made["id"]]
    taken = operator.post(SWEEPS, json=wanted)
    assert taken.status_code == 409 and wanted["name"] in taken.json()["detail"]
    operator.post(f"{SWEEPS}/{made['id']}/stop")


def test_sweeps_are_listed_by_page_project_name_and_status(fresh_postgres_url: str, tmp_path: Path) -> None:
    with (
        running_api(fresh_postgres_url, "127.0.0.1:1", tmp_path) as served,
        served.client(Scope.OPERATOR) as operator,
    ):
        made = [make(operator, project="paged")["id"] for _ in range(3)]
        other = make(operator, project="other")
        first = operator.get(SWEEPS, params={"project": "paged", "limit": 2}).json()
        assert [each["id"] for each in first["items"]] == made[:0:-1]
        assert "spec" not in first["items"][0]
        second = operator.get(SWEEPS, params={"project": "paged", "cursor": first["next_cursor"]}).json()
        assert [each["id"] for each in second["items"]] == made[:1] and second["next_cursor"] is None
        named = operator.get(SWEEPS, params={"name": other["name"]}).json()["items"]
        assert [each["id"] for each in named] == [other["id"]]
        assert operator.get(SWEEPS, params={"status": "running"}).json()["items"] == []
        # no workflow can be started: the sweep is stopped in its row
        stopped = operator.post(f"{SWEEPS}/{other['id']}/stop", json={"reason": "a mistake"})
        assert (stopped.status_code, stopped.json()["status"]) == (200, "stopped")
        listed = operator.get(SWEEPS, params={"status": "stopped"}).json()["items"]
        assert [(each["id"], each["status_reason"]) for each in listed] == [(other["id"], "a mistake")]


@pytest.mark.parametrize(
    ("spec", "path", "words"),
    [
        ({"space": {"algorithm.gamma": {"uniform": [0.9, 1.5]}}}, "space.algorithm.gamma", "algorithm.gamma"),
        ({"space": {"players.nobody.role": {"choice": ["main"]}}}, "space", "has no item 'nobody'"),
        (
            {"space": {"algorithm.gamma": {"uniform": [0.9, 1.0], "choice": [1]}}},
            "space.algorithm.gamma",
            "exactly one",
        ),
        ({"budget": {"steps": 0}}, "budget.steps", "greater than"),
        ({"metric": "win_rate"}, "metric.opponent", "needs an opponent"),
        ({"metric": {"name": "return", "player": "random"}}, "metric.player", "does not learn"),
        ({"trial": {"game": {"id": "tic_tac_toe"}, "seed": "x"}}, "trial.seed", "whole number"),
        ({"method": "best"}, "method", "hyperband"),
        ({"rungs": {"eta": 2}}, "rungs", "asha and hyperband only"),
        ({"nothing": 1}, "nothing", "nothing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said_field_by_field(
    operator: httpx.Client, viewer: httpx.Client, spec: dict[str, Any], path: str, words: str
) -> None:
    wanted = body()
    wanted["spec"] |= spec
    refused = operator.post(SWEEPS, json=wanted)
    assert refused.status_code == 422, refused.text
    found = [error for error in refused.json()["errors"] if words in str(error)]
    assert [error["field"] for error in found] == [f"body.spec.{path}"], refused.text
    checked = viewer.post(f"{SWEEPS}/validate", json={"spec": wanted["spec"]}).json()
    assert checked["valid"] is False and checked["spec"] is None
    assert [problem["path"] for problem in checked["problems"] if words in str(problem)] == [path]


def test_a_sweep_is_checked_without_making_anything(viewer: httpx.Client) -> None:
    checked = viewer.post(f"{SWEEPS}/validate", json={"spec": body()["spec"]}).json()
    assert (checked["valid"], checked["problems"], checked["spec"]["trials"]) == (True, [], 2)


def test_tpe_without_optuna_is_refused_with_the_install_command(
    operator: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optuna_extra, "find_spec", lambda name: None)
    wanted = body()
    for changes, field in (({"method": "tpe"}, "method"), ({"method": "asha", "sampler": "tpe"}, "sampler")):
        refused = operator.post(SWEEPS, json=wanted | {"spec": wanted["spec"] | changes})
        assert refused.status_code == 422, refused.text
        (error,) = refused.json()["errors"]
        assert error["field"] == f"body.spec.{field}" and 'pip install "lanista[sweep]"' in error["message"]


def test_viewers_look_and_do_not_order(api: Served, viewer: httpx.Client, running: dict[str, Any]) -> None:
    path = f"{SWEEPS}/{running['id']}"
    assert viewer.get(path).status_code == viewer.get(f"{path}/trials").status_code == 200
    for call, sent in ((SWEEPS, body()), (f"{path}/pause", None), (f"{path}/stop", {"reason": "no"})):
        refused = viewer.post(call, json=sent)
        assert (refused.status_code, refused.json()["needed_scope"]) == (403, "operator")
    assert show(viewer, running["id"])["status"] == "running"


def test_code_in_a_swept_trial_needs_the_scope(operator: httpx.Client, coder: httpx.Client) -> None:
    wanted = body()
    wanted["spec"]["trial"] = {"game": {"id": "good:Game"}}
    refused = operator.post(SWEEPS, json=wanted)
    assert refused.status_code == 403 and "code" in refused.json()["detail"]
    wanted["spec"]["trial"] = {"game": {"id": "bad:Game"}}
    broken = coder.post(SWEEPS, json=wanted)
    assert broken.status_code == 422, "it is tried before the sweep is made"
    assert broken.json()["errors"][0]["field"].startswith("body.spec.trial.game")


def test_an_unknown_sweep_is_not_found(operator: httpx.Client) -> None:
    path = f"{SWEEPS}/{new_id()}"
    for answer in (operator.get(path), operator.get(f"{path}/trials"), operator.post(f"{path}/pause")):
        assert answer.status_code == 404 and "no sweep" in answer.json()["detail"]
