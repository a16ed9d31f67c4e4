"""The guide's examples run as they are printed, and its table names every option of the command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from lanista.cli.outside_games import serve as serve_command
from lanista.serving import loading
from tests.unit.serving.fake_league import FakeLeague
from workers.serving import metrics
from workers.serving.director import ServingDirector

GUIDE = (Path(__file__).parents[3] / "docs" / "guides" / "serving.md").read_text()


def test_the_guides_examples_run(monkeypatch: pytest.MonkeyPatch) -> None:
    league = FakeLeague()
    league.promote(league.add(3))
    monkeypatch.setattr(loading, "Client", lambda url, token: league.connect())
    blocks = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "serving.md", "exec"), names)
    assert names["action"] in range(9)


def test_every_option_is_in_the_guide() -> None:
    made = typer.Typer(add_completion=False)
    made.command()(serve_command.serve)
    command = typer.main.get_command(made)
    options = {name for parameter in command.params for name in parameter.opts} - {"--help", "--home"}
    assert {option for option in options if f"`{option}`" not in GUIDE} == set()


def test_every_metric_is_in_the_guide() -> None:
    director = ServingDirector("a@b", lambda version: None)  # type: ignore[arg-type, return-value]
    director.sessions["main:1", "started"] += 1

    class Following:
        api_reachable, problem, refused = True, "", dict[str, str]()

    named = {series[0] for series in metrics.serving_series(director, Following())}
    assert {name for name in named if f"`{name}" not in GUIDE} == set() and len(named) == 6
