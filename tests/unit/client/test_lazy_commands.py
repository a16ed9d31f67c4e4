"""A command's code is imported when the command is called, and help knows all commands without importing any."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from lanista.cli import COMMANDS, app

HEAVY = ("httpx", "pydantic", "pydantic_settings", "yaml", "psutil", "asyncio")


def loaded_by(code: str, modules: tuple[str, ...]) -> list[str]:
    """Those of the modules that the code loads."""
    code = f"import sys\n{code}\nprint([name for name in {modules} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found: list[str] = eval(done.stdout.splitlines()[-1])
    return found


def test_help_imports_no_command() -> None:
    code = "from lanista.cli import app\ntry: app(['--help'])\nexcept SystemExit: pass"
    assert loaded_by(code, (*HEAVY, "lanista.cli.leagues.trial", "lanista.cli.installation.stack")) == []


def test_commands_of_the_api_do_not_build_the_tree_of_the_trial_file() -> None:
    code = "from lanista.cli.leagues import league, model, tournament, trial"
    assert loaded_by(code, ("orchestrator.spec.trial", "orchestrator.spec.tournament", "yaml", "fastapi")) == []


def test_a_command_builds_no_model_of_answers_before_it_connects(tmp_path: Path) -> None:
    code = (
        "import sys; from lanista.cli import main; "
        f"sys.argv = ['lanista', 'trial', 'list', '--home', {str(tmp_path)!r}]\ntry: main()\nexcept SystemExit: pass"
    )
    models = ("api.schemas.base", "api.schemas.trials", "api.schemas.gates", "api.schemas.tournaments")
    assert loaded_by(code, (*models, "pydantic_settings", "lanista.client.blocking")) == ["lanista.client.blocking"]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_of_help_is_the_commands_own(name: str) -> None:
    command: Any = typer.main.get_command(app)
    own = command.commands[name].help
    assert own.partition("\n\n")[0].replace("\n", " ") == COMMANDS[name].help


def test_a_misspelt_command_is_answered_with_the_nearest() -> None:
    done = CliRunner().invoke(app, ["trail", "list"])
    assert done.exit_code == 2 and "Did you mean 'trial'" in done.output
