"""Priorities and quotas over HTTP, and who waits for whom."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from api.store.core.ids import new_id
from tests.integration.api.test_trials import SPEC, make, reach


def changed(client: httpx.Client, path: str, **fields: Any) -> httpx.Response:
    return client.patch(f"/api/v1/{path}", json=fields)


def test_a_trial_gets_the_priority_and_quota_of_its_file(operator: httpx.Client) -> None:
    trial = make(operator, name=new_id(), spec=SPEC | {"priority": 2.5, "quota": 3})
    assert (trial["priority"], trial["quota"]) == (2.5, 3)
    plain = make(operator, name=new_id(), spec=SPEC)
    assert (plain["priority"], plain["quota"]) == (1.0, None)
    reach(operator, trial["id"], "paused")


@pytest.mark.parametrize("wrong", [{"priority": 0}, {"priority": 1001}, {"quota": -1}, {"quota": 1.5}])
def test_wrong_priorities_and_quotas_are_refused(
    operator: httpx.Client, admin: httpx.Client, wrong: dict[str, Any]
) -> None:
    trial = make(operator, name=new_id())
    assert changed(operator, f"trials/{trial['id']}", **wrong).status_code == 422
    assert changed(admin, "projects/default", **wrong).status_code == 422


def test_a_trial_is_changed_told_and_audited(operator: httpx.Client, admin: httpx.Client) -> None:
    trial = reach(operator, make(operator, name=new_id())["id"], "paused")
    now = changed(operator, f"trials/{trial['id']}", priority=3, quota=2).json()
    assert (now["priority"], now["quota"], now["revision"]) == (3.0, 2, trial["revision"] + 1)
    assert changed(operator, f"trials/{trial['id']}", quota=0).json()["quota"] is None
    same = changed(operator, f"trials/{trial['id']}", priority=3, quota=0).json()
    assert same["revision"] == now["revision"] + 1, "nothing changed"
    log = admin.get("/api/v1/audit", params={"target": f"trial/{trial['id']}"}).json()["items"]
    assert any(line["detail"].get("priority") == 3.0 for line in log if line["action"] == "trial.change")


def test_only_an_admin_changes_a_project(operator: httpx.Client, admin: httpx.Client) -> None:
    project = f"p-{new_id()}"
    make(operator, project=project, name="one")
    assert changed(operator, f"projects/{project}", priority=9).status_code == 403
    now = changed(admin, f"projects/{project}", priority=4, quota=16)
    assert now.status_code == 200, now.text
    assert (now.json()["priority"], now.json()["quota"], now.json()["trials"]) == (4.0, 16, 1)
    listed = {each["name"]: each for each in admin.get("/api/v1/projects", params={"limit": 500}).json()["items"]}
    assert listed[project]["quota"] == 16
    log = admin.get("/api/v1/audit", params={"target": f"project/{now.json()['id']}"}).json()["items"]
    assert [line["detail"] for line in log] == [{"priority": 4.0, "quota": 16}]
    assert changed(admin, "projects/there-is-none", priority=4).status_code == 404


def test_who_waits_for_whom_is_shown(operator: httpx.Client, viewer: httpx.Client) -> None:
    project = f"p-{new_id()}"
    trial = make(operator, project=project, name="waits", spec=SPEC | {"start": "running"})
    reach(operator, trial["id"], "running")
    queue = viewer.get("/api/v1/system/queue")
    assert queue.status_code == 200, queue.text
    mine = next(each for each in queue.json()["trials"] if each["trial_id"] == trial["id"])
    assert (mine["project"], mine["trial"], mine["priority"], mine["quota"]) == (project, "waits", 1.0, None)
    assert 0 < mine["share"] <= 1 and mine["learners"] >= 1
    operator.post(f"/api/v1/trials/{trial['id']}/stop", json={"mode": "now"})
