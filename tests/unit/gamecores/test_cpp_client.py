"""The C++ client of clients/cpp, built with g++ and run: games over HTTP and TCP, refusals, agents, tokens."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lanista.fakes.answers import Answers
from tests.unit.gamecores.conftest import ROOT, OneGame, Pairs, Served, serving
from workers.gateway.options import GatewayOptions

FOLDER = ROOT / "clients" / "cpp"
CHECK = Path(__file__).with_name("client_check.cpp")

Build = Callable[[Path], Path]
both = pytest.mark.parametrize("scheme", ["http", "tcp"])


def run(program: Path, *arguments: str) -> str:
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=True).stdout


@both
def test_the_fake_game_plays(build: Build, served: Served, answers: Answers, scheme: str) -> None:
    seen = []
    answers.on_step = lambda step, answer: seen.append((step.kind.value, step.body))
    output = run(build(FOLDER / "fake_game.cpp"), served.url(scheme), "2")
    assert output == "game 1 ended at 8\ngame 2 ended at 8\n"
    assert (answers.ended, answers.ticks) == (2, 8)
    assert seen[:2] == [("start", b'{"length": 9}'), ("tick", b'{"tick": 0, "place": 4}')]
    assert seen[-1] == ("end", b'{"place": 8}')


@both
def test_a_refusal_has_a_status_and_words_and_the_connection_goes_on(build: Build, served: Served, scheme: str) -> None:
    first, second = run(build(CHECK), "refusal", served.url(scheme)).splitlines()
    assert first.startswith("404 404: ") and "no session 'unknown'" in first
    assert second == "hello"


@both
def test_a_large_body_arrives_whole(build: Build, served: Served, answers: Answers, scheme: str) -> None:
    answers.script = {"tick": lambda session, body: body}
    assert run(build(CHECK), "large", served.url(scheme)) == "1\n"


@both
def test_agents_of_a_game_may_wait_for_each_other(build: Build, scheme: str) -> None:
    pairs = Pairs()
    with serving(lambda gateway: setattr(gateway.front, "handler", pairs)) as served:
        lines = run(build(CHECK), "agents", served.url(scheme)).splitlines()
    assert lines[:2] == ["red blue", "red met blue, blue met red"]
    assert lines[2].startswith("refused 418: a refusal, with words after ")
    assert float(lines[2].split()[-1]) in (1.5, 2.0)  # HTTP has whole seconds
    assert pairs.tickets == ["ticket-7", ""]


@both
def test_the_token_is_sent(build: Build, answers: Answers, scheme: str) -> None:
    options = GatewayOptions(http_port=0, tcp_port=0, tokens=("secret",))
    with serving(lambda gateway: gateway.play(answers, answers.runner), options) as served:
        assert "401" in run(build(CHECK), "start", served.url(scheme), "wrong")
        assert run(build(CHECK), "start", served.url(scheme), "secret") == "hello\n"


@both
def test_what_to_play_next(build: Build, answers: Answers, scheme: str) -> None:
    with serving(lambda gateway: gateway.play(answers, answers.runner, OneGame())) as served:
        assert run(build(CHECK), "next", served.url(scheme)) == "ticket-7 chess 12  []\n"


@both
def test_a_gateway_that_is_not_there_is_an_error(build: Build, answers: Answers, scheme: str) -> None:
    with serving(lambda gateway: gateway.play(answers, answers.runner)) as served:
        pass
    assert run(build(CHECK), "start", served.url(scheme)).startswith(f"error {served.url(scheme)}: ")


def test_it_is_one_short_header() -> None:
    text = (FOLDER / "lanista_gamecore.hpp").read_text(encoding="utf-8")
    assert text.count("\n") < 300
    assert '#include "' not in text
