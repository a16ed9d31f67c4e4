"""The wheel alone, with its base dependencies, in an empty virtual environment: client and commands reach an API."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from api.schemas.enums import Scope
from api.store.trials.create import create_trial
from orchestrator.spec.reading.checking import check_spec
from tests.integration.api.server import Served
from tests.wheel import ROOT

ASK = """
import importlib.util, json, lanista
stack = ("sqlalchemy", "fastapi", "torch", "ray", "temporalio", "numpy")
present = [name for name in stack if importlib.util.find_spec(name)]
with lanista.Client() as client:
    trial = client.find_trial("installed/alone")
    print(json.dumps([present, lanista.__file__, trial.label, trial.status, client.league(trial).payoff.revision]))
"""


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that holds the wheel and what it depends on, and nothing else."""
    folder = tmp_path_factory.mktemp("client")
    venv.create(folder, with_pip=False, symlinks=True)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--quiet", "--no-compile"),
            *("--disable-pip-version-check", "--constraint", ROOT / "constraints.txt", wheel),
        ],
        check=True,
        capture_output=True,
    )
    return folder


def run(environment: Path, api: Served, *command: str) -> subprocess.CompletedProcess[str]:
    names = ("PYTHONPATH", "VIRTUAL_ENV")
    variables = {key: value for key, value in os.environ.items() if key not in names and "LANISTA" not in key}
    variables |= {"LANISTA_URL": api.base, "LANISTA_TOKEN": api.tokens[Scope.OPERATOR]}
    program, *arguments = command
    return subprocess.run(
        [environment / "bin" / program, *arguments], cwd=environment, env=variables, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def trial(api: Served) -> str:
    with api.sessions.begin() as session:
        spec = check_spec({"game": {"id": "tic_tac_toe"}})
        return create_trial(session, project="installed", name="alone", spec=spec).id


def test_the_client_reads_a_league(environment: Path, api: Served, trial: str) -> None:
    asked = run(environment, api, "python", "-c", ASK)
    assert asked.returncode == 0, asked.stderr
    present, file, label, status, revision = json.loads(asked.stdout)
    assert present == [], "the base install must not bring the stack"
    assert file.startswith(str(environment)), "the wheel answers, not the repository"
    assert (label, status, revision) == ("installed/alone", "pending", 0)


def test_the_command_line_lists_trials(environment: Path, api: Served, trial: str) -> None:
    listed = run(environment, api, "lanista", "trial", "list", "--project", "installed", "--json")
    assert listed.returncode == 0, listed.stderr
    assert [each["id"] for each in json.loads(listed.stdout)] == [trial]


@pytest.mark.parametrize(
    "command", ["up", "demo", "api", "migrate", "audit", "doctor", "worker store", "worker train", "token list"]
)
def test_a_command_of_the_stack_says_what_to_install(environment: Path, api: Served, command: str) -> None:
    refused = run(environment, api, "lanista", *command.split())
    assert refused.returncode == 1 and refused.stdout == ""
    (line,) = refused.stderr.splitlines()
    assert line.startswith("Error: This command needs the stack") and line.endswith("pip install 'lanista[stack]'")
