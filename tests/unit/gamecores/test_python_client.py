"""The Python client of clients/python: games over HTTP and TCP, refusals, several agents, tokens."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lanista.fakes.answers import Answers
from tests.unit.gamecores.conftest import ROOT, OneGame, Pairs, Served, serving
from workers.gateway.options import GatewayOptions

FOLDER = ROOT / "clients" / "python"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(FOLDER)
    import lanista_gamecore

    return lanista_gamecore


@pytest.fixture
def connect(client: ModuleType) -> Iterator[Callable[..., Any]]:
    """Makes gateways that are closed after the test."""
    with ExitStack() as made:
        yield lambda url, **options: made.enter_context(client.Gateway(url, **options))


Connect = Callable[..., Any]
both = pytest.mark.parametrize("scheme", ["http", "tcp"])


@both
def test_a_game_from_start_to_end(
    client: ModuleType, connect: Connect, served: Served, answers: Answers, scheme: str
) -> None:
    seen = []
    answers.on_step = lambda step, answer: seen.append((step.session, step.kind.value, step.body))
    game = connect(served.url(scheme)).session("game-1")
    assert game.start(b"begin") == b"hello"
    assert [game.tick(bytes([number, 10, 0])) for number in range(3)] == [b"right"] * 3
    assert game.end() == b"bye"
    assert seen == [
        ("game-1", "start", b"begin"),
        *(("game-1", "tick", bytes([number, 10, 0])) for number in range(3)),
        ("game-1", "end", b""),
    ]


@both
def test_a_refusal_has_a_status_and_words_and_the_connection_goes_on(
    client: ModuleType, connect: Connect, served: Served, scheme: str
) -> None:
    gateway = connect(served.url(scheme))
    with pytest.raises(client.Refused, match="no session 'unknown'") as refused:
        gateway.step("tick", "unknown", b"")
    assert refused.value.status == 404
    assert gateway.session().start() == b"hello"


@both
def test_a_large_body_arrives_whole(
    client: ModuleType, connect: Connect, served: Served, answers: Answers, scheme: str
) -> None:
    answers.script = {"tick": lambda session, body: body}
    game = connect(served.url(scheme)).session()
    game.start()
    body = bytes(range(256)) * 2000
    assert game.tick(body) == body


@both
def test_agents_of_a_game_may_wait_for_each_other(client: ModuleType, connect: Connect, scheme: str) -> None:
    pairs = Pairs()
    with serving(lambda gateway: setattr(gateway.front, "handler", pairs)) as served:
        game = connect(served.url(scheme)).session("duel", ticket="ticket-7")
        assert game.start_all({"red": b"", "blue": b""}) == {"red": b"red", "blue": b"blue"}
        assert game.tick_all({"red": b"", "blue": b""}) == {"red": b"red met blue", "blue": b"blue met red"}
        with pytest.raises(client.Refused, match="418: a refusal, with words") as refused:
            game.end_all({"red": b"", "blue": b""})
        assert refused.value.retry_after in (1.5, 2.0)  # HTTP has whole seconds
    assert pairs.tickets == ["ticket-7", "ticket-7"]


@both
def test_the_token_is_sent(client: ModuleType, connect: Connect, answers: Answers, scheme: str) -> None:
    options = GatewayOptions(http_port=0, tcp_port=0, tokens=("secret",))
    with serving(lambda gateway: gateway.play(answers, answers.runner), options) as served:
        with pytest.raises(client.Refused, match="401"):
            connect(served.url(scheme), token="wrong").session().start()
        assert connect(served.url(scheme), token="secret").session().start() == b"hello"


@both
def test_what_to_play_next(client: ModuleType, connect: Connect, answers: Answers, scheme: str) -> None:
    with serving(lambda gateway: gateway.play(answers, answers.runner, OneGame())) as served:
        gateway = connect(served.url(scheme))
        assert gateway.next(0, "chess") == {"ticket": "ticket-7", "game": "chess", "seed": 12}
        assert gateway.next(0) is None


@both
def test_a_gateway_that_went_away_is_an_error_and_not_a_repeated_request(
    client: ModuleType, connect: Connect, answers: Answers, scheme: str
) -> None:
    with serving(lambda gateway: gateway.play(answers, answers.runner)) as served:
        gateway = connect(served.url(scheme))
        game = gateway.session()
        game.start()
    for _ in range(2):
        with pytest.raises(client.GatewayError, match=r"127\.0\.0\.1"):
            game.tick(b"")
    assert answers.ticks == 0


def test_an_address_must_be_one(client: ModuleType) -> None:
    for url in ("127.0.0.1:8810", "ftp://host:1", "http://host"):
        with pytest.raises(ValueError, match="http://HOST:PORT"):
            client.Gateway(url)


def test_it_needs_the_standard_library_only_and_is_short() -> None:
    text = (FOLDER / "lanista_gamecore.py").read_text(encoding="utf-8")
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(text))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= sys.stdlib_module_names
    assert text.count("\n") < 300


@both
def test_the_fake_game_plays(served: Served, answers: Answers, scheme: str) -> None:
    command: list[str | Path] = [sys.executable, FOLDER / "fake_game.py", served.url(scheme), "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "game 1 ended at 8\ngame 2 ended at 8\n"
    assert (answers.ended, answers.ticks) == (2, 8)
