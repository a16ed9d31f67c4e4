"""The guide to one process is true: its code runs, its commands exist, its files are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib
import pytest
import typer

from lanista.cli import app
from lanista.training.run import Run, train

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "start" / "try.md").read_text(encoding="utf-8")


def test_the_code_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    matplotlib.use("agg")
    scope: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL):
        exec(block, scope)
    printed = capsys.readouterr().out
    assert "main 3 0." in printed and "entropy" in printed
    assert isinstance(scope["run"], Run)


@pytest.mark.parametrize("line", re.findall(r"^\$ lanista (.*)$", GUIDE, re.MULTILINE))
def test_the_commands_of_the_guide_are_understood(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lanista-try" / "self-play").mkdir(parents=True)
    command: Any = typer.main.get_command(app)
    words = line.split()
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    command.make_context(command.name, words, resilient_parsing=False)
    files = [word for word in words if word.startswith("examples/")]
    assert all((ROOT / file).exists() for file in files)


def test_the_guide_names_every_argument_and_every_part_of_a_run() -> None:
    named = set(re.findall(r"\w+", GUIDE))
    public = {name for name in vars(Run) if not name.startswith("_")} - {"curve_name", "seconds", "name", "spec"}
    arguments = set(train.__annotations__) - {"return", "trial"}
    assert (public | arguments) - named == set()
