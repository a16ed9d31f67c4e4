"""Names, tags and notes of trials over HTTP, and the lists and lookups that use them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from api.activities.trials import _brief
from api.store.core.ids import new_id
from api.store.tables import Trial
from api.store.tournaments.schedules import sync_trial_schedules
from api.store.trials.names import first_name
from tests.integration.api.server import Served
from tests.integration.api.test_sweeps import body as sweep_body
from tests.integration.api.test_sweeps import make as make_sweep
from tests.integration.api.test_trials import SPEC, make, reach


def change(client: httpx.Client, trial: dict[str, Any], **fields: Any) -> httpx.Response:
    return client.patch(f"/api/v1/trials/{trial['id']}", json=fields)


def test_a_change_is_kept_told_and_audited(operator: httpx.Client, admin: httpx.Client) -> None:
    trial = reach(operator, make(operator)["id"], "paused")
    answer = change(operator, trial, tags=["baseline", "gpu", "baseline"], notes="too slow\nbut right")
    assert answer.status_code == 200, answer.text
    changed = answer.json()
    assert (changed["tags"], changed["notes"]) == (["baseline", "gpu"], "too slow\nbut right")
    assert changed["revision"] == trial["revision"] + 1 and answer.headers["etag"] == f'"{changed["revision"]}"'
    assert changed == operator.get(f"/api/v1/trials/{trial['id']}").json()
    same = change(operator, trial, tags=["baseline", "gpu"]).json()
    assert same["revision"] == changed["revision"], "nothing changed"
    log = admin.get("/api/v1/audit", params={"target": f"trial/{trial['id']}"}).json()["items"]
    detail = next(line["detail"] for line in reversed(log) if line["action"] == "trial.change")
    assert detail["tags"] == ["baseline", "gpu"] and detail["notes"] is True


def test_a_renamed_trial_is_found_by_both_names_and_keeps_the_first(api: Served, operator: httpx.Client) -> None:
    project, trial = f"p-{new_id()}", None
    trial = make(operator, project=project, name="first")
    for name in ("second", "third", "first", "fourth"):
        assert change(operator, trial, name=name).status_code == 200
    for name in ("first", "second", "third", "fourth"):
        listed = operator.get("/api/v1/trials", params={"project": project, "name": name}).json()["items"]
        assert [(each["id"], each["name"]) for each in listed] == [(trial["id"], "fourth")], name
    with api.sessions() as session:
        row = session.get_one(Trial, trial["id"])
        assert first_name(row) == "first", "folders and schedules stay"
    spec = {"trial": "first", "name": "by-its-former-name", "entrants": ["latest@second"]}
    held = operator.post("/api/v1/tournaments", json={"project": project, "spec": spec})
    assert "no trial named" not in held.text, "tournament files still find it"


def test_a_rename_makes_no_second_schedule_and_no_second_folder_of_charts(api: Served, operator: httpx.Client) -> None:
    evaluated = SPEC | {"evaluation": {"schedule": "0 3 * * *"}}
    trial = make(operator, project=f"p-{new_id()}", name="nightly", spec=evaluated)

    def schedules() -> list[str]:
        with api.sessions.begin() as session:
            sync_trial_schedules(session)
        found = operator.get("/api/v1/schedules", params={"project": trial["project"]}).json()["items"]
        return [schedule["name"] for schedule in found]

    before = schedules()
    assert len(before) == 1 and before[0].endswith("nightly")
    assert change(operator, trial, name="daily").status_code == 200
    assert schedules() == before
    with api.sessions() as session:
        brief = _brief(session, session.get_one(Trial, trial["id"]))
    assert brief.name == f"{trial['project']}.nightly"


def test_names_that_are_or_were_taken_are_refused(operator: httpx.Client) -> None:
    project = f"p-{new_id()}"
    trial, other = make(operator, project=project, name="one"), make(operator, project=project, name="other")
    taken = change(operator, other, name="one")
    assert taken.status_code == 409 and "already has a trial named 'one'" in taken.json()["detail"]
    assert change(operator, trial, name="uno").status_code == 200
    former = change(operator, other, name="one")
    assert former.status_code == 409 and "former name of trial 'uno'" in former.json()["detail"]
    again = operator.post("/api/v1/trials", json={"project": project, "name": "one", "spec": SPEC})
    assert again.status_code == 409 and "former name of trial 'uno'" in again.json()["detail"]
    back = change(operator, trial, name="one")
    assert back.status_code == 200 and back.json()["name"] == "one"
    elsewhere = make(operator, project=f"{project}-b", name="uno")
    assert elsewhere["name"] == "uno", "names belong to a project"


def test_a_name_that_a_sweep_will_give_is_refused_and_a_former_name_refuses_a_sweep(operator: httpx.Client) -> None:
    sweep = make_sweep(operator)
    trial = make(operator, project=sweep["project"], name=f"t-{new_id()[-12:]}")
    refused = change(operator, trial, name=f"{sweep['name']}-007")
    assert refused.status_code == 409 and f"sweep {sweep['name']!r} may give" in refused.json()["detail"]
    operator.post(f"/api/v1/sweeps/{sweep['id']}/stop")
    other = f"s-{new_id()[-12:]}"
    for name in (f"{other}-001", f"{other}-renamed"):
        assert change(operator, trial, name=name).status_code == 200
    answer = operator.post("/api/v1/sweeps", json=sweep_body(name=other))
    assert answer.status_code == 409 and f"{other}-renamed" in answer.json()["detail"]


def test_of_two_renames_to_one_name_one_succeeds(operator: httpx.Client) -> None:
    project = f"p-{new_id()}"
    trials = [make(operator, project=project) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda trial: change(operator, trial, name="wanted"), trials))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409], [each.text for each in answers]


def test_of_two_changes_of_one_revision_one_succeeds(operator: httpx.Client) -> None:
    trial = reach(operator, make(operator)["id"], "paused")
    match = {"If-Match": f'"{trial["revision"]}"'}

    def note(text: str) -> int:
        return operator.patch(f"/api/v1/trials/{trial['id']}", json={"notes": text}, headers=match).status_code

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(note, "abcd")) == [200, 412, 412, 412]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "Not A Name"}, "body.name"),
        ({"tags": ["UPPER"]}, "body.tags[0]"),
        ({"tags": [f"t{number}" for number in range(21)]}, "body.tags"),
        ({"notes": "x" * 20_001}, "body.notes"),
        ({"notes": "a\x00b"}, "body.notes"),
        ({"status": "running"}, "body.status"),
    ],
)
def test_what_is_wrong_is_named(operator: httpx.Client, body: dict[str, Any], field: str) -> None:
    trial = make(operator)
    answer = change(operator, trial, **body)
    assert answer.status_code == 422 and answer.json()["errors"][0]["field"] == field, answer.text


def test_a_viewer_and_an_old_revision_change_nothing(operator: httpx.Client, viewer: httpx.Client) -> None:
    trial = make(operator)
    assert change(viewer, trial, notes="mine").status_code == 403
    stale = operator.patch(f"/api/v1/trials/{trial['id']}", json={"notes": "x"}, headers={"If-Match": '"999"'})
    assert stale.status_code == 412
    assert operator.get(f"/api/v1/trials/{trial['id']}").json()["notes"] == ""


def test_lists_are_searched_tagged_and_sorted_in_pages(operator: httpx.Client) -> None:
    project = f"p-{new_id()}"
    made = {name: make(operator, project=project, name=name) for name in ("b", "d", "a", "c", "e")}
    for name in ("a", "c"):
        change(operator, made[name], tags=["kept", name], notes="A Remark")
    for trial in made.values():  # so that all have one status
        reach(operator, trial["id"], "paused")

    def names(**parameters: Any) -> list[str]:
        found: list[str] = []
        cursor = None
        while True:
            query = {"project": project, "limit": 2, **parameters} | ({"cursor": cursor} if cursor else {})
            page = operator.get("/api/v1/trials", params=query).json()
            found += [trial["name"] for trial in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    assert names() == ["e", "c", "a", "d", "b"]
    assert names(sort="created") == ["b", "d", "a", "c", "e"]
    assert names(sort="name") == ["a", "b", "c", "d", "e"]
    assert names(sort="-name") == ["e", "d", "c", "b", "a"]
    assert names(sort="steps") == ["e", "c", "a", "d", "b"], "the newest first among equals"
    assert names(sort="game") == names(sort="-project") == names(sort="-status") == ["e", "c", "a", "d", "b"]
    assert names(tag="kept", sort="name") == ["a", "c"] and names(tag=["kept", "a"]) == ["a"]
    assert names(q="remark KEPT", sort="name") == ["a", "c"] and names(q="100%") == []
    wrong = operator.get("/api/v1/trials", params={"sort": "colour"})
    assert wrong.status_code == 422 and "-created" in wrong.text


def test_the_file_of_a_trial_is_one_that_can_be_checked(operator: httpx.Client) -> None:
    trial = make(operator)
    text = operator.get(f"/api/v1/trials/{trial['id']}/file").text
    checked = operator.post("/api/v1/trials/validate", json={"text": text}).json()
    assert checked["valid"] and checked["spec"] == trial["spec"]
