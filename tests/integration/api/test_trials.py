"""Trials over HTTP: made once, started once, ordered about, refused with their present status."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.schemas.enums import Scope
from api.store.core.ids import new_id
from api.store.tables import Player
from orchestrator.spec.reading.checking import check_algorithm
from tests.integration.api.server import Served, running_api
from tests.integration.api.stand_ins import MEMORY
from tests.integration.store.league import League

SPEC: dict[str, Any] = {"game": {"id": "tic_tac_toe"}, "start": "paused"}


def until(check: Callable[[], bool], patience: float = 90) -> None:
    deadline = time.monotonic() + patience
    while not check():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)


def make(client: httpx.Client, **fields: Any) -> dict[str, Any]:
    answer = client.post("/api/v1/trials", json={"project": "p", "name": f"t-{new_id()}", "spec": SPEC} | fields)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def reach(client: httpx.Client, trial_id: str, status: str) -> dict[str, Any]:
    def reached() -> bool:
        return client.get(f"/api/v1/trials/{trial_id}").json()["status"] == status

    until(reached)
    found: dict[str, Any] = client.get(f"/api/v1/trials/{trial_id}").json()
    return found


def test_a_trial_is_made_started_and_listed(operator: httpx.Client) -> None:
    made = make(operator, project="listed")
    assert (made["status"], made["game"], made["revision"]) == ("pending", "tic_tac_toe", 1)
    assert made["spec"]["league"]["players"][0]["name"] == "main", "defaults are filled in"
    paused = reach(operator, made["id"], "paused")
    assert paused["revision"] == 2
    listed = operator.get("/api/v1/trials", params={"project": "listed", "status": "paused"}).json()
    assert [trial["id"] for trial in listed["items"]] == [made["id"]] and listed["next_cursor"] is None
    assert operator.get("/api/v1/trials", params={"project": "listed", "status": "running"}).json()["items"] == []


def test_pages_follow_each_other_without_gap_or_double(operator: httpx.Client) -> None:
    made = [make(operator, project="paged")["id"] for _ in range(5)]
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = operator.get("/api/v1/trials", params={"project": "paged", "limit": 2, **cursor}).json()
        found += [trial["id"] for trial in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert found == made[::-1]


def test_a_repeated_request_makes_one_trial(operator: httpx.Client) -> None:
    body = {"project": "once", "name": "first", "spec": SPEC}
    key = {"Idempotency-Key": new_id()}
    answers = [operator.post("/api/v1/trials", json=body, headers=key) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    assert len({answer.content for answer in answers}) == 1
    assert len({answer.headers["location"] for answer in answers}) == 1
    assert len(operator.get("/api/v1/trials", params={"project": "once"}).json()["items"]) == 1
    other = operator.post("/api/v1/trials", json=body | {"name": "second"}, headers=key)
    assert other.status_code == 409 and "another request" in other.json()["detail"]


def test_a_name_that_is_taken_is_a_conflict(operator: httpx.Client) -> None:
    made = make(operator, project="taken")
    again = operator.post("/api/v1/trials", json={"project": "taken", "name": made["name"], "spec": SPEC})
    assert again.status_code == 409 and made["name"] in again.json()["detail"]
    assert again.headers["content-type"] == "application/problem+json"


def test_orders_move_a_trial_and_are_refused_with_its_status(operator: httpx.Client) -> None:
    trial_id = make(operator)["id"]
    reach(operator, trial_id, "paused")
    path = f"/api/v1/trials/{trial_id}"
    refused = operator.post(f"{path}/pause")
    assert (refused.status_code, refused.json()["trial_status"]) == (409, "paused")
    assert "running" in refused.json()["detail"]
    key = {"Idempotency-Key": new_id()}
    assert operator.post(f"{path}/resume", headers=key).json()["status"] == "running"
    paused = operator.post(f"{path}/pause")
    assert paused.status_code == 200 and paused.json()["status"] in ("pausing", "paused")
    repeated = operator.post(f"{path}/resume", headers=key)
    assert repeated.json()["status"] == "running", "the first answer, and no second resume"
    assert operator.get(path).json()["status"] in ("pausing", "paused")
    early = operator.post(f"{path}/archive")
    assert early.status_code == 409 and early.json()["trial_status"] in ("pausing", "paused")
    assert operator.post(f"{path}/stop", json={"mode": "now"}).json()["status"] in ("stopping", "stopped")
    reach(operator, trial_id, "stopped")
    late = operator.post(f"{path}/stop")
    assert (late.status_code, late.json()["trial_status"]) == (409, "stopped")
    archived = operator.post(f"{path}/archive")
    assert archived.status_code == 200 and archived.json()["archived_at"] is not None
    shown = [trial["id"] for trial in operator.get("/api/v1/trials", params={"limit": 500}).json()["items"]]
    assert trial_id not in shown
    assert operator.get(path).status_code == 200


def test_an_archive_of_an_old_revision_is_refused(operator: httpx.Client) -> None:
    trial_id = make(operator)["id"]
    reach(operator, trial_id, "paused")
    operator.post(f"/api/v1/trials/{trial_id}/stop", json={"mode": "now"})
    stopped = reach(operator, trial_id, "stopped")
    old = operator.post(f"/api/v1/trials/{trial_id}/archive", headers={"If-Match": '"1"'})
    assert old.status_code == 412 and old.headers["etag"] == f'"{stopped["revision"]}"'
    new = operator.post(f"/api/v1/trials/{trial_id}/archive", headers={"If-Match": f'"{stopped["revision"]}"'})
    assert new.status_code == 200


def test_players_join_and_retire_while_a_trial_is_paused(operator: httpx.Client) -> None:
    trial_id = make(operator)["id"]
    reach(operator, trial_id, "paused")
    early = operator.post(f"/api/v1/trials/{trial_id}/players", json={"name": "late", "role": "main"})
    assert early.status_code == 409 and "resume the trial once" in early.json()["detail"]
    operator.post(f"/api/v1/trials/{trial_id}/resume")
    players = f"/api/v1/trials/{trial_id}/players"
    until(lambda: operator.get(players).json()["items"][0]["version_id"] is not None)
    # between its first versions and its first generation the trial is not quite launched
    until(lambda: operator.post(players, json={"name": "late", "role": "main"}).status_code == 201)
    late = {player["name"]: player for player in operator.get(players).json()["items"]}["late"]
    assert late["version_number"] == 0
    one = f"/api/v1/players/{late['id']}"
    stale = operator.patch(one, json={"hyperparameters": {"entropy": 0.1}}, headers={"If-Match": '"7"'})
    assert stale.status_code == 412
    tuned = operator.patch(one, json={"hyperparameters": {"entropy": 0.1}}, headers={"If-Match": '"1"'})
    assert tuned.json()["hyperparameters"] == {"entropy": 0.1} and tuned.headers["etag"] == '"2"'
    wrong = operator.patch(one, json={"hyperparameters": {"entropie": 0.1}})
    assert wrong.status_code == 422 and wrong.json()["errors"][0]["field"] == "body.hyperparameters.entropie"
    bot = operator.post(players, json={"name": "b", "role": "main", "bot": "random"})
    assert bot.status_code == 422 and bot.json()["errors"][0]["field"] == "body.bot"
    assert operator.patch(one, json={}).status_code == 422
    assert operator.patch(one, json={"retire": True}).json()["status"] == "retired"
    operator.post(f"/api/v1/trials/{trial_id}/stop", json={"mode": "now"})


def test_a_worker_tries_what_a_player_that_joins_or_changes_names(api: Served, operator: httpx.Client) -> None:
    league = League.found(api.sessions)
    path = f"/api/v1/trials/{league.trial_id}/players"
    joins = {"name": "late", "role": "main"}
    misfit = operator.post(path, json={**joins, "algorithm": {"id": "sac"}})
    assert misfit.status_code == 422 and "does not import" in misfit.json()["detail"]
    assert misfit.json()["errors"][0]["field"] == "body.algorithm.id"
    large = operator.post(path, json={**joins, "algorithm": {"id": "dqn", "capacity": MEMORY + 1}})
    assert large.status_code == 422 and large.json()["errors"][0]["field"] == "body.algorithm.capacity"
    with api.sessions.begin() as session:
        for name in ("main", "rival"):
            row = session.get_one(Player, league.players[name])
            row.algorithm = check_algorithm({"id": "dqn", "capacity": MEMORY // 2}).to_json()
    third = operator.post(path, json={**joins, "algorithm": {"id": "dqn", "capacity": MEMORY // 2}})
    assert third.status_code == 422 and "all buffers of the trial take" in third.json()["detail"]
    one = f"/api/v1/players/{league.players['main']}"
    changed = operator.patch(one, json={"hyperparameters": {"capacity": MEMORY // 2 + 1}})
    assert changed.status_code == 422, "with the rival's buffer it is too large"
    assert changed.json()["errors"][0]["field"] == "body.hyperparameters.capacity"
    fits = operator.patch(one, json={"hyperparameters": {"capacity": MEMORY // 2 - 1}})
    assert fits.status_code != 422, fits.text


def test_a_worker_compares_recorded_weights_with_the_algorithm(api: Served, operator: httpx.Client) -> None:
    version = League.found(api.sessions).version_of("main").id
    dqn, main = {"id": "dqn", "capacity": MEMORY // 2}, {"name": "main", "role": "main"}
    own = {"players": [{**main, "algorithm": dqn, "weights": version}]}
    for spec, field in (
        ({"algorithm": dqn, "initial_weights": version}, "initial_weights"),
        ({"league": own}, "league.players[0].weights"),
    ):
        body = {"project": "p", "name": f"t-{new_id()}", "spec": SPEC | spec}
        answer = operator.post("/api/v1/trials", json=body)
        assert answer.status_code == 422 and "the weights do not fit" in answer.json()["detail"]
        assert [error["field"] for error in answer.json()["errors"]] == [f"body.spec.{field}"]
        checked = operator.post("/api/v1/trials/validate", json={"spec": SPEC | spec}).json()
        assert [problem["path"] for problem in checked["problems"]] == [field]
    assert make(operator, spec=SPEC | {"initial_weights": version})["status"] == "pending"


def test_every_change_leaves_an_audit_row(operator: httpx.Client, admin: httpx.Client) -> None:
    trial_id = make(operator)["id"]
    reach(operator, trial_id, "paused")
    again = operator.post(f"/api/v1/trials/{trial_id}/players", json={"name": "main", "role": "main"})
    assert again.status_code == 409
    operator.post(f"/api/v1/trials/{trial_id}/stop", json={"mode": "now", "reason": "enough"})
    entries = admin.get("/api/v1/audit", params={"target": f"trial/{trial_id}"}).json()["items"]
    assert [(entry["action"], entry["actor"]) for entry in entries] == [
        ("trial.stop", "a operator"),
        ("player.add", "a operator"),
        ("player.add", "a operator"),
        ("trial.create", "a operator"),
    ]
    assert entries[1]["detail"] == {**entries[2]["detail"], "refused": again.json()["detail"]}
    assert entries[0]["detail"] == {"mode": "now", "reason": "enough"}
    assert entries[0]["remote_address"] == "127.0.0.1"


def test_what_is_wrong_is_said_field_by_field(operator: httpx.Client) -> None:
    spec = {"game": {"id": "tic_tac_to"}, "league": {"players": [{"name": "main", "role": "mian"}]}, "sed": 3}
    refused = operator.post("/api/v1/trials", json={"name": "Bad Name", "spec": spec})
    assert refused.status_code == 422
    errors = {error["field"]: error["message"] for error in refused.json()["errors"]}
    assert "main_exploiter" in errors["body.spec.league.players[0].role"]
    assert "seed" in errors["body.spec.sed"]
    assert "body.name" in errors
    named = operator.post("/api/v1/trials", json={"name": "n", "spec": {"game": {"id": "tic_tac_to"}}})
    assert named.status_code == 422 and "tic_tac_toe" in named.json()["detail"]


def test_a_file_is_checked_without_making_anything(viewer: httpx.Client) -> None:
    text = "project: p\ntrial: t\ngame: {id: tic_tac_to}\n"
    checked = viewer.post("/api/v1/trials/validate", json={"text": text}).json()
    assert checked["valid"] is False
    assert checked["problems"][0]["path"] == "game.id" and checked["problems"][0]["line"] == 3
    good = viewer.post("/api/v1/trials/validate", json={"spec": {"game": {"id": "connect_four"}}}).json()
    assert good["valid"] is True and good["spec"]["generation"]["tables"] > 0


OWN_NAMES = """\
game: {id: "bad:Game"}
model: {id: "good:Net"}
league:
  players:
    - {name: main, role: main}
    - {name: teacher, role: bot, bot: "bad:Bot"}
"""


def test_names_of_ones_own_code_are_tried_before_a_trial_starts(coder: httpx.Client) -> None:
    checked = coder.post("/api/v1/trials/validate", json={"text": OWN_NAMES}).json()
    assert checked["valid"] is False and checked["not_checked"] is None
    assert [(found["path"], found["line"]) for found in checked["problems"]] == [
        ("game.id", 1),
        ("league.players[1].bot", 6),
    ]
    assert "'bad:Game' does not import" in checked["problems"][0]["message"]
    spec = {"game": {"id": "good:Game"}, "model": {"id": "bad:Net"}, "start": "paused"}
    refused = coder.post("/api/v1/trials", json={"name": f"t-{new_id()}", "spec": spec})
    assert refused.status_code == 422
    assert [error["field"] for error in refused.json()["errors"]] == ["body.spec.model.id"]
    assert make(coder, spec=spec | {"model": {"id": "good:Net"}})["game"].startswith("good:Game")


def test_a_model_that_does_not_fit_the_game_is_reported_at_the_model(coder: httpx.Client) -> None:
    text = 'game: {id: "good:Game"}\nmodel: {id: conv}\n'
    (found,) = coder.post("/api/v1/trials/validate", json={"text": text}).json()["problems"]
    assert (found["path"], found["line"], found["message"]) == ("model.id", 2, "the model does not fit")


def test_a_gate_in_a_game_of_three_teams_is_refused_with_what_to_use_instead(coder: httpx.Client) -> None:
    text = 'game: {id: "good:ThreeTeams"}\nleague: {preset: pfsp}\n'
    (found,) = coder.post("/api/v1/trials/validate", json={"text": text}).json()["problems"]
    assert (found["path"], found["line"]) == ("league.champion_gate", 2)
    assert found["message"] == (
        "a gate compares two teams, good:ThreeTeams has 3; say champion_gate: null, promote by a tournament"
    )
    without = text.replace("pfsp}", "pfsp, champion_gate: null}")
    assert coder.post("/api/v1/trials/validate", json={"text": without}).json()["valid"] is True


def test_mates_in_a_game_without_teams_are_refused(operator: httpx.Client) -> None:
    text = "game: {id: tic_tac_toe}\nleague:\n  mates: {past: 0.5}\n"
    (found,) = operator.post("/api/v1/trials/validate", json={"text": text}).json()["problems"]
    assert (found["path"], found["line"]) == ("league.mates", 3)
    assert "each seat of tic_tac_toe is a team of its own" in found["message"]


@pytest.mark.parametrize("field", ["device", "sampling_device"])
def test_gpus_that_ray_does_not_have_are_refused_before_a_trial_starts(operator: httpx.Client, field: str) -> None:
    text = "game: {id: connect_four}\ngeneration: {rollout_actors: 2, FIELD: cuda, gpus: 0.5}\n".replace("FIELD", field)
    (found,) = operator.post("/api/v1/trials/validate", json={"text": text}).json()["problems"]
    assert (found["path"], found["line"], found["value"]) == (f"generation.{field}", 2, "'cuda'")
    assert found["message"].startswith("a crew needs 1 GPUs, Ray has 0")
    auto = text.replace("cuda", "auto")
    assert operator.post("/api/v1/trials/validate", json={"text": auto}).json()["valid"] is True


def test_who_may_only_look_has_no_code_imported(viewer: httpx.Client) -> None:
    checked = viewer.post("/api/v1/trials/validate", json={"text": OWN_NAMES}).json()
    fields = "game.id, model.id, league.players[1].bot"
    assert checked["valid"] is True and checked["not_checked"] == f"not checked: {fields}: needs a token of scope code"
    plain = viewer.post("/api/v1/trials/validate", json={"spec": {"game": {"id": "connect_four"}}}).json()
    assert plain["not_checked"] is None, "there was nothing to try"


def test_without_a_train_worker_own_names_are_said_not_to_be_checked(
    api: Served, api_database: str, tmp_path: Path
) -> None:
    with running_api(api_database, "127.0.0.1:1", tmp_path) as alone, alone.client(Scope.CODE) as client:
        checked = client.post("/api/v1/trials/validate", json={"text": OWN_NAMES}).json()
        assert checked["valid"] is True and checked["not_checked"] == "not checked: no train worker"
        plain = client.post("/api/v1/trials/validate", json={"spec": {"game": {"id": "connect_four"}}}).json()
        assert plain["not_checked"] is None, "there was nothing to try"


def test_a_trial_is_found_by_its_name(operator: httpx.Client) -> None:
    name = f"t-{new_id()}"
    wanted = [make(operator, project=project, name=name)["id"] for project in ("named", "named-too")]
    make(operator, project="named")
    found = operator.get("/api/v1/trials", params={"name": name}).json()["items"]
    assert [trial["id"] for trial in found] == wanted[::-1]
    both = operator.get("/api/v1/trials", params={"name": name, "project": "named"}).json()["items"]
    assert [trial["id"] for trial in both] == wanted[:1]


def test_an_unknown_trial_is_not_found(api: Served, operator: httpx.Client) -> None:
    unknown = f"/api/v1/trials/{new_id()}"
    for path in ("", "/players", "/versions", "/payoff", "/ratings", "/decisions", "/metrics", "/matches", "/gates"):
        assert operator.get(unknown + path).status_code == 404, path
    for order in ("pause", "resume", "stop", "archive"):
        assert operator.post(f"{unknown}/{order}").status_code == 404, order
    assert operator.get(f"{unknown}/events").status_code == 404
