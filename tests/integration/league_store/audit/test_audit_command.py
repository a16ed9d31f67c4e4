"""`lanista audit`: words for people, JSON for programs, and an exit code that means something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lanista.cli import app
from tests.integration.league_store.driver import Store, league_file


@pytest.fixture
def reachable(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The command line talks to the test's own database and folder."""
    monkeypatch.setenv("LANISTA_DATABASE_URL", store.engine.url.render_as_string(hide_password=False))
    monkeypatch.setenv("LANISTA_ARTIFACTS", store.artifacts.root_url)
    return store


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["audit", *arguments])


def test_it_says_that_all_agrees_and_then_what_does_not(reachable: Store) -> None:
    league = reachable.found(league_file("self_play"))
    league.live("main", 2)
    agreeing = run()
    assert agreeing.exit_code == 0, agreeing.output
    assert "Everything agrees" in agreeing.output
    report = json.loads(run("--json").output)
    assert report["ok"] is True
    assert report["counts"]["generations"] == 2
    Path(str(league.versions("main")[-1].uri).removeprefix("file://")).unlink()
    broken = run()
    assert broken.exit_code == 1
    assert "1 orphaned" in broken.output
    after = run("--json")
    assert after.exit_code == 1
    assert json.loads(after.output)["orphaned"] == 1
