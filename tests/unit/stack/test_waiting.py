"""Waiting for a stack from outside: patience has an end, and a part that recovers is given all the time it takes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lanista.cli import app
from lanista.cli.installation import stack
from lanista.stack import control as remote
from lanista.stack.errors import ChildFailed
from lanista.stack.home import ChildState, Home, StackState


def seen(postgres: str) -> StackState:
    children = {"postgres": ChildState(state=postgres), "api": ChildState(state="waiting")}
    return StackState(pid=1, page="http://127.0.0.1:8800", started="now", ready=postgres == "ready", children=children)


def shows(monkeypatch: pytest.MonkeyPatch, states: Iterator[str]) -> None:
    monkeypatch.setattr(remote, "START_PATIENCE", 0.3)
    monkeypatch.setattr(Home, "live_state", lambda home: seen(next(states)))


def test_a_part_that_recovers_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shows(monkeypatch, chain(["starting"], repeat("recovering", 8), repeat("ready")))
    assert remote.wait_until_ready(Home(tmp_path), lambda state: None).ready


@pytest.mark.parametrize("before", [[], ["recovering"]])
def test_a_part_that_only_starts_is_not_waited_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: list[str]
) -> None:
    shows(monkeypatch, chain(before, repeat("starting")))
    with pytest.raises(ChildFailed, match=r"not ready after 0\.3 s"):
        remote.wait_until_ready(Home(tmp_path), lambda state: None)


@pytest.mark.parametrize(("worth_a_line", "lines"), [(0.0, 1), (60.0, 0)])
def test_a_person_is_told_once_what_is_waited_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worth_a_line: float, lines: int
) -> None:
    shows(monkeypatch, chain(repeat("recovering", 4), repeat("ready")))
    monkeypatch.setattr(Home, "is_supervised", lambda home: True)
    monkeypatch.setattr(stack, "RECOVERY_WORTH_A_LINE", worth_a_line)
    result = CliRunner().invoke(app, ["up", "--detach", "--json", "--home", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert " ".join(result.stderr.split()).count("postgres is recovering from its log") == lines
