"""`lanista up --detach --json` and `down --json`: one document for programs, and nothing else."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lanista.cli import app
from lanista.cli.installation import stack
from lanista.stack import control as remote
from lanista.stack.home import ChildState, Home, StackState

STATE = StackState(
    pid=1,
    page="http://127.0.0.1:8800",
    started="now",
    ready=True,
    children={"api": ChildState(state="ready", pid=os.getpid()), "ray": ChildState(state="waiting")},
    links={"temporal": "http://127.0.0.1:8233"},
)


@pytest.mark.parametrize("running", [False, True])
def test_up_says_where_the_stack_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running: bool) -> None:
    monkeypatch.setattr(Home, "is_supervised", lambda home: running)
    monkeypatch.setattr(remote, "start_detached", lambda *given: STATE)
    monkeypatch.setattr(remote, "wait_until_ready", lambda *given: STATE)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(stack, "sign_in_link", lambda *given: pytest.fail("a secret is not for programs to log"))
    result = CliRunner().invoke(app, ["up", "--detach", "--json", "--home", str(tmp_path)])
    said = json.loads(result.stdout)
    assert (said["page"], said["home"]) == (STATE.page, str(tmp_path.resolve()))
    assert (said["ready"], said["ran_before"]) == (True, running)
    assert said["children"]["api"]["state"] == "ready" and said["links"] == STATE.links


def test_up_in_the_foreground_has_no_json(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["up", "--json", "--home", str(tmp_path)])
    assert result.exit_code == 2 and "--detach" in result.output


@pytest.mark.parametrize("ran", [False, True])
def test_down_says_what_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: bool) -> None:
    home = Home(tmp_path)
    home.create()
    home.state_file.write_text(STATE.to_json())
    monkeypatch.setattr(remote, "stop", lambda home: ran)
    result = CliRunner().invoke(app, ["down", "--json", "--home", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "stopped": ran,
        "home": str(tmp_path.resolve()),
        "parts": ["api"] if ran else [],
    }
