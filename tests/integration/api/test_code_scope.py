"""Only a token of scope `code` has code of its own imported or run; the audit log says who did, and which names."""

from __future__ import annotations

import hashlib
from typing import Any

import httpx
import pytest

from api.settings import ApiSettings
from api.store.core.ids import new_id
from api.store.tables import Player, Trial
from api.web.auth.code_scope import check_matchmaker
from orchestrator.spec import InvalidTrial
from orchestrator.spec.reading.checking import check_spec
from orchestrator.user_code.code_archives import archived_name, pack
from tests.integration.api.server import Served
from tests.integration.store.league import SPEC, League

CODE_GAME = {"id": "good:Game"}
PLAIN_GAME = {"id": "tic_tac_toe"}
BOT = {"name": "teacher", "role": "bot", "bot": "good:Bot"}
MAIN = {"name": "main", "role": "main"}

NAMES_OF_CODE = [
    ({"game": CODE_GAME}, "game.id"),
    ({"game": {"id": "gymnasium", "env": "subprocess:Popen", "max_steps": 9}}, "game.env"),
    ({"game": {"id": "gymnasium", "env": "evil_module:Env-v0", "max_steps": 9}}, "game.env"),
    (
        {"game": {"id": "gymnasium", "env": "GymV26Environment-v0", "options": {"env_id": "evil:Env-v0"}}},
        "game.options.env_id",
    ),
    ({"game": {"id": "pettingzoo_aec", "env": "os:system"}}, "game.env"),
    ({"game": {"id": "pettingzoo_parallel", "env": "x/y_v0", "options": {"a": ["b:C"]}}}, "game.options.a[0]"),
    ({"game": {"id": "openspiel", "game": "efg_game(filename=/etc/passwd)"}}, "game.game"),
    ({"game": PLAIN_GAME, "model": {"id": "good:Net"}}, "model.id"),
    ({"game": PLAIN_GAME, "algorithm": {"id": "good:Algorithm"}}, "algorithm.id"),
    ({"game": PLAIN_GAME, "league": {"preset": "good:matchmaker"}}, "league.preset"),
    ({"game": PLAIN_GAME, "league": {"players": [MAIN, BOT]}}, "league.players[1].bot"),
    ({"game": PLAIN_GAME, "budget": {"until": {"opponent": "good:Bot"}}}, "budget.until.opponent"),
]


def trial(client: httpx.Client, spec: dict[str, Any], project: str = "code") -> httpx.Response:
    body = {"project": project, "name": f"t-{new_id()}", "spec": {"start": "paused", **spec}}
    return client.post("/api/v1/trials", json=body)


def refused(answer: httpx.Response) -> list[str]:
    """The fields for which the scope is missing."""
    assert answer.status_code == 403, answer.text
    problem = answer.json()
    assert (problem["needed_scope"], problem["scope"]) == ("code", "operator")
    for error in problem["errors"]:
        assert error["field"] in problem["detail"]
    return [error["field"] for error in problem["errors"]]


def audited(admin: httpx.Client, action: str) -> list[dict[str, Any]]:
    lines = admin.get("/api/v1/audit", params={"limit": 100}).json()["items"]
    return [line for line in lines if line["action"] == action]


@pytest.mark.parametrize(("spec", "field"), NAMES_OF_CODE)
def test_an_operator_starts_no_trial_that_names_code(operator: httpx.Client, spec: dict[str, Any], field: str) -> None:
    assert refused(trial(operator, spec)) == [f"body.spec.{field}"]


@pytest.mark.parametrize(("spec", "field"), NAMES_OF_CODE)
def test_an_operator_has_no_code_imported_by_a_validation(
    operator: httpx.Client, admin: httpx.Client, spec: dict[str, Any], field: str
) -> None:
    before = audited(admin, "code.import")
    checked = operator.post("/api/v1/trials/validate", json={"spec": spec})
    assert checked.status_code == 200
    if not field.startswith("budget"):  # a bot that only the budget names is not tried before it plays
        assert "needs a token of scope code" in checked.json()["not_checked"]
    assert audited(admin, "code.import") == before


def test_an_operator_starts_what_the_catalog_has(operator: httpx.Client) -> None:
    assert trial(operator, {"game": PLAIN_GAME}).status_code == 201
    assert trial(operator, {"game": PLAIN_GAME, "league": {"players": [MAIN, BOT | {"bot": "random"}]}}).is_success


def test_an_operator_neither_resumes_nor_forks_a_trial_with_code(operator: httpx.Client, coder: httpx.Client) -> None:
    made = trial(coder, {"game": CODE_GAME})
    assert made.status_code == 201, made.text
    path = f"/api/v1/trials/{made.json()['id']}"
    assert refused(operator.post(f"{path}/resume")) == ["trial.game.id"]
    assert refused(operator.post(f"{path}/fork", json={"name": f"f-{new_id()}"})) == ["trial.game.id"]
    assert operator.post(f"{path}/stop", json={"mode": "now"}).status_code != 403, "to stop code needs no such scope"


def test_a_fork_may_write_out_the_default_options_of_its_game(api: Served, coder: httpx.Client) -> None:
    league, kept = League.found(api.sessions), CODE_GAME | {"least": 2}
    with api.sessions.begin() as session:
        session.get_one(Trial, league.trial_id).spec = check_spec({**SPEC.to_json(), "game": kept}).to_json()

    def fork(**options: int) -> httpx.Response:
        changes = {"start": "paused", "game": options}
        return coder.post(f"/api/v1/trials/{league.trial_id}/fork", json={"name": f"f-{new_id()}", "changes": changes})

    forked = fork(most=21)  # the default, as the stand-in for the worker says
    assert forked.status_code == 201, forked.text
    assert forked.json()["spec"]["game"] == kept
    for other in ({"most": 22}, {"least": 1}):
        answer = fork(**other)
        assert answer.status_code == 409 and "a fork keeps its origin's game" in answer.json()["detail"]


def test_an_operator_adds_no_bot_of_ones_own(operator: httpx.Client) -> None:
    made = trial(operator, {"game": PLAIN_GAME}).json()["id"]
    assert refused(operator.post(f"/api/v1/trials/{made}/players", json=BOT)) == ["body.bot"]


def test_an_operator_holds_no_tournament_with_code(operator: httpx.Client, coder: httpx.Client) -> None:
    project = f"p-{new_id()}"
    made = trial(coder, {"game": CODE_GAME}, project).json()
    bots = ["bot:good:Bot", "bot:random"]
    tournament = {"project": project, "spec": {"game": PLAIN_GAME, "entrants": bots}}
    assert refused(operator.post("/api/v1/tournaments", json=tournament)) == ["body.spec.entrants[0]"]
    of_trial = {"project": project, "spec": {"trial": made["name"], "entrants": ["bot:random", "bot:first-legal"]}}
    assert refused(operator.post("/api/v1/tournaments", json=of_trial)) == ["body.spec.trial.game.id"]
    schedule = {"project": project, "name": "nightly", "every_seconds": 86_400, "tournament": of_trial["spec"]}
    assert refused(operator.post("/api/v1/schedules", json=schedule)) == ["body.tournament.trial.game.id"]
    kept = coder.post("/api/v1/schedules", json=schedule)
    assert kept.status_code == 201, kept.text
    path = f"/api/v1/schedules/{kept.json()['id']}"
    assert refused(operator.post(f"{path}/trigger")) == ["tournament.trial.game.id"]
    assert refused(operator.patch(path, json={"paused": False})) == ["tournament.trial.game.id"]
    assert operator.patch(path, json={"paused": True}).status_code == 200
    assert coder.delete(path).status_code == 204


OWN_ALGORITHM = {"id": "good:Algorithm"}


def own_algorithm_league(api: Served, *, of_player: bool) -> tuple[League, str]:
    """A league whose main player has the trial's own algorithm, or one of its own; and the trial's name."""
    league = League.found(api.sessions)
    with api.sessions.begin() as session:
        row = session.get_one(Trial, league.trial_id)
        if of_player:
            session.get_one(Player, league.players["main"]).algorithm = OWN_ALGORITHM
        else:
            row.spec = check_spec({**SPEC.to_json(), "algorithm": OWN_ALGORITHM}).to_json()
        return league, row.name


@pytest.mark.parametrize("of_player", [False, True])
def test_an_operator_has_no_algorithm_of_an_entrant_imported(
    api: Served, operator: httpx.Client, coder: httpx.Client, of_player: bool
) -> None:
    league, name = own_algorithm_league(api, of_player=of_player)
    version = league.version_of("main").id
    spec = {"game": PLAIN_GAME, "entrants": [f"version:{version}", "bot:random"]}
    place = f"{name}/main v0" if of_player else name
    tournament = {"project": "board-games", "spec": spec}
    assert refused(operator.post("/api/v1/tournaments", json=tournament)) == [
        f"body.spec.entrants.{place}.algorithm.id"
    ]
    assert coder.post("/api/v1/tournaments", json=tournament).status_code == 201
    inner = "players.main.algorithm.id" if of_player else "algorithm.id"
    for of_trial, field in ((True, inner), (False, f"entrants.{name}.{inner}")):
        held = {"trial": name, "entrants": ["latest", "bot:random"]} if of_trial else spec
        schedule = {"project": "board-games", "name": f"s-{new_id()}", "every_seconds": 86_400, "tournament": held}
        assert refused(operator.post("/api/v1/schedules", json=schedule)) == [f"body.tournament.{field}"]


@pytest.mark.parametrize("of_player", [False, True])
def test_an_operator_starts_nothing_from_weights_that_act_by_an_algorithm_of_ones_own(
    api: Served, operator: httpx.Client, coder: httpx.Client, of_player: bool
) -> None:
    league, name = own_algorithm_league(api, of_player=of_player)
    field = f"weights.{'main' if of_player else name}.algorithm.id"
    version = league.version_of("main").id
    for weights in ({"initial_weights": version}, {"league": {"players": [MAIN | {"weights": version}]}}):
        assert refused(trial(operator, {"game": PLAIN_GAME, **weights})) == [f"body.spec.{field}"]
    heir = trial(coder, {"game": PLAIN_GAME, "initial_weights": version})
    assert heir.status_code == 201, heir.text
    assert refused(operator.post(f"/api/v1/trials/{heir.json()['id']}/resume")) == [f"trial.{field}"]


def test_an_operator_neither_resumes_nor_forks_a_league_that_a_player_with_code_joined(
    api: Served, operator: httpx.Client
) -> None:
    league, _ = own_algorithm_league(api, of_player=True)
    path = f"/api/v1/trials/{league.trial_id}"
    assert refused(operator.post(f"{path}/resume")) == ["trial.players.main.algorithm.id"]
    assert refused(operator.post(f"{path}/fork", json={"name": f"f-{new_id()}"})) == ["trial.players.main.algorithm.id"]


def test_the_audit_log_says_who_had_which_code_imported(coder: httpx.Client, admin: httpx.Client) -> None:
    spec = {"game": CODE_GAME, "model": {"id": f"good:Net{new_id()[-6:]}"}}
    assert coder.post("/api/v1/trials/validate", json={"spec": spec}).json()["valid"] is True
    newest = audited(admin, "code.import")[0]
    assert newest["detail"] == {
        "for": "trial.validate",
        "names": {"game.id": "good:Game", "model.id": spec["model"]["id"]},
    }
    assert newest["actor"] == coder.get("/api/v1/session").json()["name"]
    made = trial(coder, spec).json()
    assert audited(admin, "code.import")[0]["detail"]["for"] == "trial.create"
    (line,) = [line for line in audited(admin, "trial.create") if line["target"] == f"trial/{made['id']}"]
    assert set(line["detail"]["code"].values()) == {"good:Game", spec["model"]["id"]}


def test_refused_code_leaves_a_line_too(coder: httpx.Client, admin: httpx.Client) -> None:
    answer = trial(coder, {"game": {"id": "bad:Game"}})
    assert answer.status_code == 422
    assert audited(admin, "code.import")[0]["detail"]["names"] == {"game.id": "bad:Game"}


def test_a_token_of_the_scope_is_made_like_any_other(admin: httpx.Client, coder: httpx.Client) -> None:
    made = admin.post("/api/v1/tokens", json={"name": f"c-{new_id()}", "scope": "code"})
    assert made.status_code == 201 and made.json()["scope"] == "code"
    assert coder.post("/api/v1/tokens", json={"name": "another"}).status_code == 403
    assert trial(admin, {"game": CODE_GAME}).status_code == 201, "an admin may do what `code` may"


def test_a_matchmaker_of_ones_own_is_refused_beside_a_worker_user() -> None:
    spec = check_spec({"game": PLAIN_GAME, "league": {"preset": "good:matchmaker"}})
    check_matchmaker(spec, ApiSettings())
    with pytest.raises(InvalidTrial, match=r"league.preset.*LANISTA_OWN_MATCHMAKERS"):
        check_matchmaker(spec, ApiSettings(own_matchmakers=False))
    check_matchmaker(check_spec({"game": PLAIN_GAME}), ApiSettings(own_matchmakers=False))


def test_initial_weights_by_path_stay_in_the_allowed_folders(coder: httpx.Client) -> None:
    for path in ("/etc/passwd", "../../admin.token"):
        answer = trial(coder, {"game": PLAIN_GAME, "initial_weights": path})
        assert answer.status_code == 422 and answer.json()["errors"][0]["field"] == "body.spec.initial_weights"
        assert "LANISTA_IMPORT_FOLDERS" in answer.json()["detail"]
        checked = coder.post(
            "/api/v1/trials/validate", json={"spec": {"game": PLAIN_GAME, "initial_weights": path}}
        ).json()
        assert checked["valid"] is False and checked["problems"][0]["path"] == "initial_weights"
    assert trial(coder, {"game": PLAIN_GAME, "initial_weights": "best.safetensors"}).status_code == 201
    missing = trial(coder, {"game": PLAIN_GAME, "initial_weights": "lost.safetensors"})
    assert missing.status_code == 422 and "there is no file 'lost.safetensors'" in missing.json()["detail"]


def test_an_archive_is_stored_by_its_hash_and_needs_the_scope(
    coder: httpx.Client, operator: httpx.Client, admin: httpx.Client, api: Served
) -> None:
    data = pack({"good.py": b"class Game: ...\n"})
    assert operator.post("/api/v1/code", content=data).status_code == 403
    stored = coder.post("/api/v1/code", content=data)
    assert stored.status_code == 201 and stored.json()["files"] == ["good.py"]
    sha = hashlib.sha256(data).hexdigest()
    assert stored.json()["sha256"] == sha and audited(admin, "code.upload")[0]["target"] == f"code/{sha}"
    assert admin.get(f"/api/v1/code/{sha}").content == data
    assert admin.get(f"/api/v1/code/{'0' * 64}").status_code == 404
    assert admin.get("/api/v1/code/abc").status_code == 422
    assert coder.post("/api/v1/code", content=b"no zip").status_code == 422
    assert refused(trial(operator, {"game": {"id": archived_name(sha, "good:Game")}})) == ["body.spec.game.id"]


def test_a_game_keeps_its_name_when_its_code_was_edited(coder: httpx.Client) -> None:
    made = trial(coder, {"game": {"id": archived_name("a" * 64, "good:Game")}})
    assert made.status_code == 201, made.text
    assert made.json()["game"] == "good:Game" and made.json()["spec"]["game"]["id"].startswith("lanista_code_aaa")
