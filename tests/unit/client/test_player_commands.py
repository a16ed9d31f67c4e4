"""Commands for the players of a league, its matches, games of a person, and what a trial waits for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from lanista.cli import app, terminal
from tests.unit.client.fake_api import (
    FakeApi,
    a_league,
    a_player,
    a_trial,
    a_version,
    an_id,
    page,
)

Serve = Callable[..., FakeApi]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables with all their columns, whatever terminal the tests run in."""
    monkeypatch.setattr(terminal.out, "width", 160)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def test_players_are_added_retuned_and_retired(serve: Serve) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/players") and request.method == "GET":
            bot = a_player(3, "greedy", role="bot") | {"bot": f"lanista_code_{'a' * 64}.row:Greedy"}
            return page(a_player(2, "main") | {"hyperparameters": {"entropy": 0.1, "gae_lambda": 0.9}}, bot)
        if request.url.path.endswith("/trials"):
            return page(a_trial(1))
        if request.method in ("POST", "PATCH"):
            given = json.loads(request.content)
            return httpx.Response(200, json=a_player(2, "main") | {"hyperparameters": given.get("hyperparameters", {})})
        return httpx.Response(200, json=a_trial(1))

    api = serve(answer)
    listed = run("player", "list", "trial-1").stdout
    assert "entropy=0.1" in listed
    assert "row:Greedy" in listed and "lanista_code" not in listed
    assert "(entropy=0.02)" in run("player", "add", "trial-1", "second", "--set", "entropy=0.02").stdout
    added = json.loads(api.requests[-1].content)
    assert added == {"name": "second", "role": "main", "hyperparameters": {"entropy": 0.02}}
    run("player", "add", "trial-1", "teacher", "--bot", "mcts-50")
    assert json.loads(api.requests[-1].content) == {"name": "teacher", "role": "bot", "bot": "mcts-50"}
    run("player", "add", "trial-1", "rival", "--algorithm", "dqn", "--set", "capacity=1000", "--model", "conv")
    rival = json.loads(api.requests[-1].content)
    assert rival["algorithm"] == {"id": "dqn", "capacity": 1000} and rival["model"] == {"id": "conv"}
    run("player", "retune", "trial-1", "main", "--set", "entropy=3e-3")
    assert json.loads(api.requests[-1].content)["hyperparameters"] == {"entropy": 0.003, "gae_lambda": 0.9}
    run("player", "retune", "trial-1", "main", "--reset")
    assert json.loads(api.requests[-1].content)["hyperparameters"] == {}
    assert run("player", "retune", "trial-1", "main").exit_code == 2
    assert "retired" in run("player", "retire", "trial-1", "main").stdout
    assert json.loads(api.requests[-1].content)["retire"] is True


A_MATCH = {
    "id": 17,
    "stream": "rating",
    "trial_id": an_id(1),
    "tournament_id": None,
    "gate_id": None,
    "round": 1,
    "pair": 0,
    "seat": 0,
    "seed": 9,
    "player_id": an_id(2),
    "player": "main",
    "version_id": an_id(3),
    "version_number": 12,
    "opponent_id": an_id(4),
    "opponent": "random",
    "opponent_version_id": an_id(5),
    "opponent_version_number": 0,
    "result": "win",
    "plies": 2,
    "played_at": "2030-01-01T00:00:00Z",
}
A_POSITION = {
    "ply": 0,
    "seats": [0],
    "actions": [3],
    "names": ["d"],
    "returns": [0.0, 0.0],
    "value": 0.25,
    "done": False,
    "legal": [[{"action": 3, "name": "d", "probability": 0.9}, {"action": 4, "name": "e", "probability": 0.1}]],
    "text": ". . .",
    "svg": "",
}
THE_END = {**A_POSITION, "ply": 2, "seats": [], "actions": [], "names": [], "legal": [], "returns": [1.0, -1.0]}
THE_END |= {"done": True, "text": "x . o"}


def test_matches_are_listed_shown_and_replayed(serve: Serve) -> None:
    serve(page(a_trial(1)), httpx.Response(200, json=a_trial(1)), page(A_MATCH))
    assert "main:12" in run("match", "list", "trial-1").stdout
    serve(httpx.Response(200, json={**A_MATCH, "moves": [3, 4], "opening": None}))
    assert "main:12 win against random:0" in run("match", "show", "17").stdout
    replayed = {"match": A_MATCH, "notation": "1. d e", "positions": [A_POSITION, THE_END]}
    serve(httpx.Response(200, json=replayed))
    shown = run("match", "replay", "17").stdout
    assert "move 1: seat 0 plays d · value +0.25" in shown and "seat 0: d 90%, e 10%" in shown
    assert "the end: returns 1, -1" in shown and "x . o" in shown


def test_a_person_plays_in_the_terminal(serve: Serve) -> None:
    game = {"id": an_id(9), "version_id": an_id(201), "seat": 0, "moves": [], "answered": [], "position": A_POSITION}
    over = {**game, "moves": [3, 4], "answered": [4], "position": THE_END}

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/moves"):
            assert json.loads(request.content) == {"action": 3}
            return httpx.Response(200, json=over)
        return httpx.Response(200, json=game if request.method == "POST" else a_version(1))

    serve(answer)
    assert run("play", an_id(201), "--moves", "d").stdout.splitlines()[-1] == "You won: your return is 1."
    wrong = run("play", an_id(201), "--moves", "z")
    assert wrong.exit_code == 2 and "'z' is not a legal move; legal: d, e" in " ".join(wrong.output.split())
    typed = CliRunner().invoke(app, ["play", an_id(201)], input="z\n3\n", catch_exceptions=False)
    assert "not a legal move" in typed.output and "You won" in typed.output


def test_what_a_trial_waits_for_is_shown(serve: Serve) -> None:
    waiting = {
        "player_id": an_id(2),
        "player": "main",
        "generation": 3,
        "waiting": "a crew of 2 CPUs behind main of big",
    }
    retried = "Generation 3 of main: attempt 2 failed, the next in 10 s: the crew was lost"
    speed = {"steps_per_second": 14_300.4, "measured_seconds": 300, "steps_under_way": 9, "seconds_left": 60}
    league, now = a_league(), {"generations": [waiting], "troubles": [retried], "speed": speed}

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=now) if request.url.path.endswith("/progress") else league(request)

    serve(answer)
    shown = " ".join(run("trial", "show", "trial-1").stdout.split())
    assert "waits for a crew of 2 CPUs behind main of big" in shown and retried in shown
    assert "14,300 steps/s · about 0:01:00 left" in shown
    listed = run("trial", "list").stdout
    assert " 14,300 " in listed, "the same number in the list"
    assert f"games/trial-1: {retried}; main waits for a crew of 2 CPUs behind main of big" in listed


def test_games_without_opponents_are_shown_by_their_returns(serve: Serve) -> None:
    league = a_league()
    nobody = [[0, 0, 0]] * 3

    def answer(request: httpx.Request) -> httpx.Response:
        found = league(request)
        if request.url.path.endswith("/payoff"):
            return httpx.Response(200, json=found.json() | {"wins": nobody, "draws": nobody, "losses": nobody})
        if request.url.path.endswith("/ratings"):
            return httpx.Response(200, json={"fit": None, "items": [], "next_cursor": None})
        return found

    serve(answer)
    shown = run("trial", "show", "trial-1").stdout
    assert "mean return" in shown and "187.5" in shown and "rating" not in shown
