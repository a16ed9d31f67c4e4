"""`lanista new`: each template makes a project that passes its own tests, and learns."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from lanista.cli import app
from lanista.new.commented_file import commented_trial
from lanista.new.project import TEMPLATES
from orchestrator.spec.reading.loading import parse_trial
from orchestrator.spec.section import Section

ROOT = Path(__file__).parents[3]


def run(folder: Path, *words: str, path: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{path}"}
    return subprocess.run(words, cwd=folder, env=environment, check=False, capture_output=True, text=True)


def make(template: str, folder: Path) -> Path:
    name = f"my-{template.replace('_', '-')}"
    made = CliRunner().invoke(app, ["new", name, "--template", template, "--into", str(folder)])
    assert made.exit_code == 0, made.output
    return folder / name


def test_projects_pass_their_own_tests(tmp_path: Path) -> None:
    """In one process: `make test` of each would import torch each time."""
    folders = [make(template, tmp_path) for template in TEMPLATES]
    words = ("-m", "pytest", "-q", "--import-mode=importlib", *(f"{folder}/tests" for folder in folders))
    tested = run(tmp_path, sys.executable, *words, path=os.pathsep.join(map(str, folders)))
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "21 passed" in tested.stdout


def test_a_project_is_tested_and_tried_by_its_makefile(tmp_path: Path) -> None:
    folder = make("rl", tmp_path)
    tested = run(folder, "make", "test", f"PYTHON={sys.executable}")
    assert tested.returncode == 0, tested.stdout + tested.stderr
    limits = ("--generations", "2", "--set", "generation.steps=500", "--json")
    tried = run(folder, "make", "try", f"PYTHON={sys.executable}", f"TRY={' '.join(limits)}")
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert '"opponent": null' in tried.stdout


def test_a_name_with_underscores_makes_a_project_too(tmp_path: Path) -> None:
    made = CliRunner().invoke(app, ["new", "my_game", "--template", "serve", "--into", str(tmp_path)])
    assert made.exit_code == 0, made.output
    assert parse_trial((tmp_path / "my_game" / "trial.yaml").read_text(encoding="utf-8")).project == "my-game"
    assert "--alias my-game@champion" in (tmp_path / "my_game" / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_trial_file_explains_every_field(template: str, tmp_path: Path) -> None:
    CliRunner().invoke(app, ["new", "my-game", "--template", template, "--into", str(tmp_path)])
    text = (tmp_path / "my-game" / "trial.yaml").read_text(encoding="utf-8")
    trial = parse_trial(text)
    for name, section in _sections(trial):
        for field, info in type(section).model_fields.items():
            assert f"{field}:" in text and (info.description or "") in text, f"{name}.{field}"
    readme = (tmp_path / "my-game" / "README.md").read_text(encoding="utf-8")
    assert not {"PROJECT", "PACKAGE", "ABOUT", "MODULES", "TRIALNAME"} & set(readme.split())


def _sections(section: Section, name: str = "") -> list[tuple[str, Section]]:
    inner = [(field, getattr(section, field)) for field in type(section).model_fields]
    found = [each for field, value in inner if isinstance(value, Section) for each in _sections(value, field)]
    return [(name, section), *found]


def test_the_client_of_a_game_that_calls_in_is_the_published_one() -> None:
    """A copy, so that the wheel has it too."""
    copy = ROOT / "lanista/new/templates/gamecore/lanista_gamecore.py.txt"
    assert copy.read_bytes() == (ROOT / "clients/python/lanista_gamecore.py").read_bytes()


def test_a_commented_field_can_be_switched_on() -> None:
    given = {"project": "p", "trial": "t", "game": {"id": "tic_tac_toe"}, "generation": {"steps": 10}}
    text = commented_trial(given, "A trial.")
    assert parse_trial(text).generation.steps == 10 and yaml.safe_load(text) == given
    changed = text.replace("  # tables: 1024", "  tables: 8")
    assert parse_trial(changed).generation.tables == 8


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["new", "Chess"], "cannot be the name of a project"),
        (["new", "workers"], "cannot be the name of a project"),
        (["new", "chess", "--template", "lega"], "allowed: league, rl, sl, sl_rl, cooperative, gamecore, serve"),
        (["new", "there"], "exists already"),
    ],
)
def test_what_cannot_be_made_is_refused(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 6 and message in result.stderr
