"""`lanista worker promote`, with the server left out."""

from __future__ import annotations

import logging
import os
from typing import Any

import pytest
from typer.testing import CliRunner

from lanista.cli import app
from orchestrator import temporal
from orchestrator.temporal import deployment
from orchestrator.temporal.deployment import Deployment


class Ended(BaseException):
    """The process would have ended here."""


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was ordered, and the exit code."""
    found: list[Any] = []

    async def connect(*_: Any) -> str:
        return "client"

    async def promote(client: str, chosen: Deployment, **_: Any) -> None:
        found.append(chosen)

    async def withdraw(client: str, name: str, **_: Any) -> None:
        found.append(name)

    def end(code: int) -> None:
        found.append(code)
        raise Ended

    monkeypatch.setattr(temporal, "connect", connect)
    monkeypatch.setattr(deployment, "promote", promote)
    monkeypatch.setattr(deployment, "withdraw", withdraw)
    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(logging, "shutdown", lambda: None)  # it would close pytest's own log
    return found


@pytest.mark.parametrize(
    ("arguments", "ordered", "said"),
    [
        (["--build", "b"], Deployment(name="leagues-train", build_id="b"), "Build b gets the tasks of leagues-train."),
        (["--nothing"], "leagues-train", "Workers without a deployment get the tasks of leagues-train."),
    ],
)
def test_it_says_who_gets_the_tasks_and_ends_without_waiting_for_threads(
    given: list[Any], capsys: pytest.CaptureFixture[str], arguments: list[str], ordered: Any, said: str
) -> None:
    """Threads of Temporal's core may abort an interpreter that shuts down, after what was asked is done."""
    with pytest.raises(Ended):
        app(["worker", "promote", "train", "--deployment", "leagues", *arguments])
    assert given == [ordered, 0]
    assert said in capsys.readouterr().out


def test_it_needs_a_deployment(given: list[Any]) -> None:
    refused = CliRunner().invoke(app, ["worker", "promote", "train"])
    assert "LANISTA_TEMPORAL_DEPLOYMENT is not set" in str(refused.exception)
    assert given == []
