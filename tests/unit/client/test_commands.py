"""Commands: tables for people, JSON for programs, errors with the next step, exit codes that mean something."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
from typer.testing import CliRunner

import lanista.cli
from lanista.cli import app, connection, terminal
from lanista.cli.connection import ExitCode
from lanista.cli.installation import bench
from lanista.cli.leagues import trial_checks
from lanista.cli.leagues.trial_orders import parse_changes
from lanista.client import Client
from lanista.client.local import ApiAddress, find_api
from lanista.stack.home import Home, write_atomically
from tests.unit.client.fake_api import (
    NO_WAITING,
    FakeApi,
    a_league,
    a_list,
    a_schedule,
    a_trial,
    a_version,
    an_id,
    page,
    problem,
)

runner = CliRunner()

Serve = Callable[..., FakeApi]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables with all their columns, whatever terminal the tests run in."""
    monkeypatch.setattr(terminal.out, "width", 160)


def run(*arguments: str) -> Any:
    return runner.invoke(app, list(arguments), catch_exceptions=False)


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """The program itself: its exit code and what it wrote to stderr."""

    def program(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["lanista", *arguments])
        with pytest.raises(SystemExit) as end:
            lanista.cli.main()
        return int(end.value.code or 0), capsys.readouterr().err

    return program


def test_trials_are_listed_for_people_and_programs(serve: Serve) -> None:
    api = serve(a_list(a_trial(1), a_trial(2, status="failed", status_reason="why")))
    shown = run("trial", "list", "--status", "running", "--status", "failed", "--project", "games").stdout
    assert "games/trial-1" in shown and "failed" in shown and "1,000" in shown
    assert api.requests[0].url.params.get_list("status") == ["running", "failed"]
    listed = json.loads(run("trial", "list", "--json").stdout)
    assert [trial["name"] for trial in listed] == ["trial-1", "trial-2"]


BUG = """main: user_code: KeyError: ':robot:'
  File "/home/me/my_game.py", line 3, in step
    return self.board[action]"""


def test_a_failed_trial_is_listed_with_its_reason_and_shown_with_the_traceback(serve: Serve) -> None:
    serve(a_list(a_trial(1), a_trial(2, status="failed", status_reason=BUG)))
    listed = run("trial", "list").stdout.splitlines()
    assert listed[-1] == "games/trial-2 failed: main: user_code: KeyError: ':robot:'"
    serve(a_league(status="failed", status_reason=BUG))
    shown = run("trial", "show", "trial-1").stdout
    assert "failed (main: user_code: KeyError: ':robot:')" in shown
    assert '  File "/home/me/my_game.py", line 3, in step\n    return self.board[action]\n' in shown


def test_a_limit_does_not_ask_for_more(serve: Serve) -> None:
    api = serve(page(a_trial(1), a_trial(2), next_cursor="x"))
    assert len(json.loads(run("trial", "list", "--json", "-n", "2").stdout)) == 2
    assert [request.url.params["limit"] for request in api.requests] == ["2"]


def test_a_trial_is_shown_with_its_league_or_as_a_file(serve: Serve) -> None:
    serve(a_league())
    shown = run("trial", "show", "trial-1").stdout
    assert "games/trial-1" in shown and "champion" in shown and "+120 ±20" in shown
    assert run("trial", "show", "trial-1", "--file").stdout.startswith("project: games\ntrial: trial-1\ngame:\n")
    assert json.loads(run("trial", "show", an_id(1), "--json").stdout)["id"] == an_id(1)


def test_a_file_is_started_as_it_says_or_as_the_options_say(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "first.yaml"
    file.write_text("game: {id: tic_tac_toe}\nproject: games\n")
    api = serve(httpx.Response(201, json=a_trial(1)))
    assert "lanista trial watch games/trial-1" in run("trial", "start", str(file)).stdout
    run("trial", "start", str(file), "--project", "other", "--name", "second", "--paused")
    first, second = (json.loads(request.content) for request in api.requests)
    assert (first["project"], first["name"], first["spec"]["start"]) == ("games", "first", "running")
    assert (second["project"], second["name"], second["spec"]["start"]) == ("other", "second", "paused")


def test_a_wrong_file_is_not_sent(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text("game: {id: conect_four}\n")
    api = serve(problem(500))
    ended = run("trial", "start", str(file))
    assert ended.exit_code == ExitCode.FAILED and "connect_four" in ended.stderr and api.requests == []


def test_a_name_that_is_taken_is_answered_with_the_option_to_change_it(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "first.yaml"
    file.write_text("game: {id: tic_tac_toe}\n")
    serve(problem(409, "project 'default' already has a trial named 'first'"))
    ended = run("trial", "start", str(file))
    assert ended.exit_code == ExitCode.REFUSED
    assert "already has a trial named 'first'" in ended.stderr and "--name" in ended.stderr


@pytest.mark.parametrize(
    ("command", "path", "body"),
    [
        (["pause"], "pause", None),
        (["resume"], "resume", None),
        (["stop"], "stop", {"mode": "drain"}),
        (["stop", "--now", "--reason", "enough"], "stop", {"mode": "now", "reason": "enough"}),
        (["archive"], "archive", None),
    ],
)
def test_orders_go_to_their_calls(serve: Serve, command: list[str], path: str, body: Any) -> None:
    api = serve(httpx.Response(200, json=a_trial(1)))
    order, *options = command
    assert "games/trial-1 is running" in run("trial", order, an_id(1), *options).stdout
    request = api.requests[-1]
    assert (request.method, request.url.path) == ("POST", f"/api/v1/trials/{an_id(1)}/{path}")
    assert (json.loads(request.content) if request.content else None) == body


def test_waiting_ends_when_it_has_happened_or_cannot_any_more(serve: Serve) -> None:
    now = [httpx.Response(200, json=a_trial(1, status=status)) for status in ("running", "pausing", "paused")]
    serve(*now)
    assert "is paused" in run("trial", "pause", an_id(1), "--wait").stdout
    serve(*now[:2], httpx.Response(200, json=a_trial(1, status="failed")))
    ended = run("trial", "pause", an_id(1), "--wait")
    assert "is failed" in ended.stdout and ended.exit_code == ExitCode.REFUSED


def test_a_fork_takes_changes(serve: Serve) -> None:
    api = serve(httpx.Response(201, json=a_trial(1, forked_from_trial_id=an_id(9), forked_at_commit=4)))
    options = ["--at", "4", "--set", "algorithm.learning_rate=1e-3", "--set", "algorithm.epochs=2", "--set", "seed=8"]
    assert "at commit 4" in run("trial", "fork", an_id(1), "second", *options).stdout
    changes = {"algorithm": {"learning_rate": 0.001, "epochs": 2}, "seed": 8}
    assert json.loads(api.requests[-1].content) == {"name": "second", "at_commit": 4, "changes": changes}


@pytest.mark.parametrize("change", ["seed", "=1", "a..b=1", ".a=1"])
def test_what_is_no_change_is_refused(change: str) -> None:
    with pytest.raises(typer.BadParameter, match=r"section\.option=value"):
        parse_changes([change])


def test_a_value_is_not_a_section() -> None:
    with pytest.raises(typer.BadParameter, match="already"):
        parse_changes(["a=1", "a.b=2"])
    assert parse_changes(["a=[1, x]", "b=yes please"]) == {"a": [1, "x"], "b": "yes please"}


def test_the_league_is_drawn(serve: Serve) -> None:
    serve(a_league())
    assert "0.70 5" in run("league", "payoff", "trial-1").stdout
    shown = run("league", "ratings", "trial-1").stdout
    assert "+120 ±20" in shown and "Zero is random." in shown
    assert json.loads(run("league", "payoff", "trial-1", "--json").stdout)["win_rate"][0][1] == 0.7


def test_ratings_are_shown_against_a_version(serve: Serve) -> None:
    asked: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/ratings"):
            return a_league()(request)
        asked.append(request.url.params.get("against"))
        difference = {"difference": 35.0, "difference_low": 5.0, "difference_high": 65.0}
        ratings = a_league()(request).json()
        return httpx.Response(200, json={**ratings, "items": [{**item, **difference} for item in ratings["items"]]})

    serve(lambda request: versions(request) or answer(request))
    shown = run("league", "ratings", "trial-1", "--against", "main:2").stdout
    assert "against main:2" in shown and "+35 ±30" in shown
    assert run("league", "ratings", "trial-1", "--against", an_id(202), "--csv").exit_code == 0
    assert asked == [an_id(202), an_id(202)]


def versions(request: httpx.Request) -> httpx.Response | None:
    """Version 2 of the main, in a list or by its id."""
    found = a_version(2)
    if request.url.path.endswith("/versions"):
        return page(found)
    return httpx.Response(200, json=found) if "/versions/" in request.url.path else None


def test_tables_come_as_csv(serve: Serve) -> None:
    def csv(request: httpx.Request) -> httpx.Response:
        return a_league()(request) if "format" not in request.url.params else httpx.Response(200, text="a,b\r\n1,2\r\n")

    serve(csv)
    for table in ("payoff", "ratings", "decisions"):
        assert run("league", table, "trial-1", "--csv").stdout.splitlines() == ["a,b", "1,2"]


def test_a_csv_is_of_what_was_asked_for(serve: Serve) -> None:
    asked: list[httpx.QueryParams] = []

    def csv(request: httpx.Request) -> httpx.Response:
        if "format" not in request.url.params:
            return a_league()(request)
        asked.append(request.url.params)
        return httpx.Response(200, text="a,b\r\n")

    serve(csv)
    run("league", "payoff", "trial-1", "--csv", "--stream", "rating")
    run("league", "ratings", "trial-1", "--csv", "--method", "elo_online")
    kinds = ("--kind", "snapshot", "--kind", "reset")
    run("league", "decisions", "trial-1", "--csv", *kinds, "--player", "main", "--generation", "3")
    assert asked[0]["stream"] == "rating" and asked[1]["method"] == "elo_online"
    assert asked[2].get_list("kind") == ["snapshot", "reset"]
    assert asked[2]["player_id"] and asked[2]["generation"] == "3"


@pytest.mark.parametrize(
    ("reply", "code", "step"),
    [
        (httpx.ConnectError("refused"), ExitCode.UNREACHABLE, "lanista up"),
        (problem(503, "the database does not answer"), ExitCode.UNREACHABLE, "lanista doctor"),
        (problem(401, "this token is unknown"), ExitCode.NOT_ALLOWED, "LANISTA_TOKEN"),
        (problem(403, "a viewer may not"), ExitCode.NOT_ALLOWED, "lanista token create"),
        (
            problem(403, "names code", needed_scope="code"),
            ExitCode.NOT_ALLOWED,
            "lanista token create NAME --scope code",
        ),
        (problem(404, "there is no trial"), ExitCode.NOT_FOUND, "there is no trial"),
        (page(), ExitCode.NOT_FOUND, "lanista trial list"),
        (problem(409, "a trial that is paused"), ExitCode.REFUSED, "paused"),
        (problem(422, "name: no", errors=[{"field": "a", "message": "x"}, {"field": "b", "message": "y"}]), 6, "b: y"),
        (problem(500, "our side"), ExitCode.FAILED, "our side"),
    ],
)
def test_errors_say_the_next_step_and_end_with_their_code(
    serve: Serve, main: Callable[..., tuple[int, str]], reply: httpx.Response, code: int, step: str
) -> None:
    serve(reply)
    trial = "nothing" if reply is not None and getattr(reply, "status_code", 0) == 200 else an_id(1)
    ended, said = main("trial", "show", trial)
    assert ended == code
    assert said.startswith("Error: ") and step in said and "Traceback" not in said and "secret" not in said


def test_a_token_that_may_not_send_code_has_the_rest_of_the_file_checked(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_rules.py").write_text("CARDS = 'cards.json'\n")
    (tmp_path / "cards.json").write_text("{}")
    (tmp_path / "trial.yaml").write_text("trial: t\ngame: {id: 'own_rules:Game'}\nbudget: {steps: 9000}\n")
    asked: list[tuple[str, bytes]] = []

    def reply(request: httpx.Request) -> httpx.Response:
        asked.append((request.url.path, request.content))
        if request.url.path.endswith("/code"):
            return problem(403, "needs the scope code", needed_scope="code")
        answer = {"valid": not bad, "problems": bad, "spec": None, "not_checked": "not checked: game.id"}
        return httpx.Response(200, json=answer)

    bad: list[dict[str, Any]] = []
    api = serve(reply)
    monkeypatch.setattr(trial_checks, "Client", lambda where, **_: Client(where, retries=NO_WAITING, transport=api))
    checked = run("trial", "validate", str(tmp_path / "trial.yaml"))
    assert checked.exit_code == 0, checked.stderr
    assert "not checked: own code, which was not sent" in checked.stderr
    assert "; not checked: game.id" in checked.stderr
    assert "not sent with the code: cards.json: own_rules.py names it" in checked.stderr
    assert [path.rpartition("/")[2] for path, _ in asked] == ["code", "validate"]
    assert b'"own_rules:Game"' in asked[-1][1]
    bad.append({"path": "algorithm.minibatch", "message": "too large", "value": None, "line": None, "column": None})
    refused = run("trial", "validate", str(tmp_path / "trial.yaml"))
    assert refused.exit_code == ExitCode.FAILED and "too large" in refused.stderr


@pytest.mark.parametrize("command", [("trial", "list"), ("token", "list"), ("audit",)])
def test_without_a_stack_one_is_told_to_start_it(
    main: Callable[..., tuple[int, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    for name in ("LANISTA_URL", "LANISTA_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    code, said = main(*command, "--home", str(tmp_path / "none"))
    assert code == ExitCode.UNREACHABLE and said.count("`lanista up`") == 1


def test_the_local_admin_token_goes_to_the_local_stack_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path)
    home.run.mkdir()
    write_atomically(home.admin_token, "local-secret\n")
    write_atomically(home.run / "environment.json", json.dumps({"LANISTA_URL": "http://127.0.0.1:1"}))
    for name in ("LANISTA_URL", "LANISTA_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANISTA_HOME", str(tmp_path))
    assert find_api() == ApiAddress("http://127.0.0.1:1", "local-secret")
    assert find_api("http://elsewhere") == ApiAddress("http://elsewhere", None)
    monkeypatch.setenv("LANISTA_URL", "http://elsewhere")
    assert find_api() == ApiAddress("http://elsewhere", None)
    monkeypatch.setenv("LANISTA_TOKEN", "theirs")
    assert find_api() == ApiAddress("http://elsewhere", "theirs")
    assert "theirs" not in repr(find_api())


def test_a_download_is_not_written_over(serve: Serve, tmp_path: Path) -> None:
    serve(httpx.Response(200, json=a_version(3)))
    target = tmp_path / "main.safetensors"
    target.write_bytes(b"mine")
    ended = run("model", "download", an_id(5), "--to", str(target))
    assert ended.exit_code == ExitCode.REFUSED and "--force" in ended.stderr
    assert target.read_bytes() == b"mine"


def test_a_download_that_cannot_be_written_says_where(serve: Serve, tmp_path: Path) -> None:
    serve(httpx.Response(200, json=a_version(3)), httpx.Response(200, content=b"weights", headers={"ETag": '"x"'}))
    target = tmp_path / "none" / "main.safetensors"
    ended = run("model", "download", an_id(5), "--to", str(target))
    assert ended.exit_code == ExitCode.FAILED and "cannot be written: No such file" in ended.stderr


def test_a_damaged_download_leaves_the_old_file(
    serve: Serve, main: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    serve(httpx.Response(200, json=a_version(3)), httpx.Response(200, content=b"weights", headers={"ETag": '"x"'}))
    target = tmp_path / "main.safetensors"
    target.write_bytes(b"mine")
    code, said = main("model", "download", an_id(5), "--to", str(target), "--force")
    assert code == ExitCode.FAILED and "damaged in transit" in said
    assert target.read_bytes() == b"mine" and [each.name for each in tmp_path.iterdir()] == [target.name]


def test_benchmarks_are_listed_and_an_unknown_one_is_refused() -> None:
    assert "selfplay" in json.loads(run("bench", "--json").stdout)
    ended = run("bench", "nothing")
    assert ended.exit_code == ExitCode.USAGE and "selfplay" in ended.stderr


def test_without_a_checkout_there_are_no_benchmarks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "CHECKOUT", tmp_path)
    ended = run("bench")
    assert ended.exit_code == ExitCode.FAILED and "come with the source" in ended.stderr


def test_names_of_trials_complete(serve: Serve) -> None:
    serve(page(a_trial(1), a_trial(2, name="other")))
    assert connection.complete_trials("games/tr") == ["games/trial-1"]
    serve(httpx.ConnectError("away"))
    assert connection.complete_trials("") == []


def test_schedules_go_by_their_names(serve: Serve, main: Callable[..., tuple[int, str]]) -> None:
    here, there = a_schedule(1, project="here"), a_schedule(2, project="there")
    api = serve(page(there), httpx.Response(200, json=there))
    run("schedule", "trigger", "there/nightly")
    assert api.requests[0].url.params["project"] == "there"
    assert api.requests[1].url.path == f"/api/v1/schedules/{an_id(2)}/trigger"
    serve(page(here, there))
    assert main("schedule", "show", "nightly") == (
        ExitCode.NOT_FOUND,
        "Error: 'nightly' is ambiguous: here/nightly, there/nightly; `lanista schedule list` shows their ids\n",
    )
    serve(page())
    code, said = main("schedule", "delete", "nightly")
    assert code == ExitCode.NOT_FOUND and "there is no schedule 'nightly'; `lanista schedule list` shows them" in said


def test_a_tournament_goes_by_its_id(main: Callable[..., tuple[int, str]]) -> None:
    code, said = main("tournament", "show", "spring")
    assert code == ExitCode.NOT_FOUND and "'spring' is not the id of a tournament" in said


@pytest.mark.parametrize("columns", [40, 80])
def test_ids_are_whole_however_narrow_the_terminal(serve: Serve, monkeypatch: Any, columns: int) -> None:
    monkeypatch.setattr(terminal.out, "width", columns)
    serve(page(a_schedule(1)))
    shown = run("schedule", "list").stdout
    cells = [line.split("│")[-2].strip() for line in shown.splitlines() if line.startswith("│")]
    assert "".join(cells) == an_id(1)


@pytest.mark.parametrize("command", [["audit"], ["token", "list"], ["token", "create", "x"]])
def test_a_database_that_does_not_answer_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, main: Callable[..., tuple[int, str]], command: list[str]
) -> None:
    monkeypatch.setenv("LANISTA_DATABASE_URL", f"postgresql://nobody@/none?host={tmp_path}")
    code, said = main(*command)
    assert code == ExitCode.UNREACHABLE
    assert said.startswith("Error: Postgres cannot be reached") and len(said.splitlines()) == 1


@pytest.mark.parametrize("command", ["payoff", "ratings", "decisions"])
def test_two_forms_at_once_are_refused(command: str) -> None:
    ended = run("league", command, "trial-1", "--json", "--csv")
    assert ended.exit_code == ExitCode.USAGE and "cannot be combined" in ended.stderr
