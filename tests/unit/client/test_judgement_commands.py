"""Commands that tell how players were judged: gates by their candidates, generations by their decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from lanista.cli import app, terminal
from tests.unit.client.fake_api import WHEN, FakeApi, a_player, a_trial, a_version, an_id, page

Serve = Callable[..., FakeApi]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal.out, "width", 200)


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return str(done.stdout)


def a_gate(number: int, candidate: str, status: str) -> dict[str, Any]:
    return {
        "id": an_id(number),
        "trial_id": an_id(1),
        "game": "tic_tac_toe",
        "alias": "champion",
        "candidate_version_id": candidate,
        "champion_version_id": None,
        "status": status,
        "status_reason": None,
        "elo0": 0.0,
        "elo1": 35.0,
        "model": "logistic",
        "alpha": 0.05,
        "beta": 0.05,
        "lower_bound": -2.94,
        "upper_bound": 2.94,
        "max_pairs": 2000,
        "pairs": 120,
        "pentanomial": [4, 20, 50, 30, 16],
        "llr": 1.2,
        "settings": {},
        "created_at": WHEN,
        "started_at": WHEN,
        "finished_at": None,
    }


def test_gates_are_listed_with_their_candidates(serve: Serve) -> None:
    elsewhere = a_version(4, player="second")

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/gates"):
            return page(a_gate(20, an_id(105), "passed"), a_gate(21, elsewhere["id"], "failed"))
        if request.url.path.endswith("/players"):
            return page(a_player(5, "main-1", role="historical"))
        if "/versions/" in request.url.path:
            return httpx.Response(200, json=elsewhere)
        return page(a_trial(1)) if request.url.path.endswith("/trials") else httpx.Response(200, json=a_trial(1))

    serve(answer)
    passed, failed = (line for line in run("gate", "list", "trial-1").splitlines() if "champion" in line)
    assert "main-1:2" in passed and "passed" in passed
    assert "second:4" in failed and "failed" in failed


def a_decision(number: int, kind: str, generation: int, verdict: str, reason: str) -> dict[str, Any]:
    return {
        "id": number,
        "kind": kind,
        "verdict": verdict,
        "reason": reason,
        "evidence": {},
        "player_id": an_id(2),
        "player": "main",
        "generation": generation,
        "attempt": 1,
        "version_id": None,
        "gate_id": None,
        "commit": None,
        "created_at": WHEN,
    }


def test_a_generation_under_way_is_explained_with_the_judgement_before(serve: Serve) -> None:
    made = [
        a_decision(3, "matchmaking", 3, "plan", "the newest plan"),
        a_decision(2, "snapshot", 2, "keep", "only 5 of at least 9 steps"),
        a_decision(1, "matchmaking", 2, "plan", "an older plan"),
    ]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/decisions"):
            generation = request.url.params.get("generation")
            return page(*(each for each in made if generation in (None, str(each["generation"]))))
        if request.url.path.endswith("/players"):
            return page(a_player(2, "main"))
        return page(a_trial(1)) if request.url.path.endswith("/trials") else httpx.Response(200, json=a_trial(1))

    serve(answer)
    told = run("league", "explain", "trial-1", "main")
    assert "generation 3" in told and "the newest plan" in told and "an older plan" not in told
    assert "not judged yet. After generation 2:" in told and "only 5 of at least 9 steps" in told
    assert "the newest plan" not in run("league", "explain", "trial-1", "main", "--generation", "2")
