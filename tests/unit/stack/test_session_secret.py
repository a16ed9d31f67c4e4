"""The secret that signs browser sessions: the user's own is used, and no process but the API gets it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.settings import ApiSettings
from lanista.settings import StackSettings
from lanista.stack.home import Home
from lanista.stack.parts import SESSION_SECRET, Parts
from lanista.stack.processes.child import Child, ChildSpec

OWN = "a secret that the user has chosen, long enough"
SHOW = "import json, os; print(json.dumps(dict(os.environ)))"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A data folder, and no settings from outside."""
    for variable in list(os.environ):
        if variable.startswith(("LANISTA_", "RAY_")):
            monkeypatch.delenv(variable)
    monkeypatch.chdir(tmp_path)
    made = Home(tmp_path / "home")
    made.create()
    yield made


def specs_of(home: Home) -> dict[str, ChildSpec]:
    parts = Parts(StackSettings.load(home=home.root), home)
    return {spec.name: spec for spec in parts.specs(migrate=lambda: None)}


async def environment_of(spec: ChildSpec, home: Home) -> dict[str, str]:
    """What a process started by this spec finds in its environment."""

    async def at_once() -> bool:
        return True

    shown = ChildSpec(
        name=spec.name, command=[sys.executable, "-c", SHOW], is_ready=at_once, environment=spec.environment
    )
    child = Child(shown, home, lambda name, message: None)
    child.start([])
    async with asyncio.timeout(30):
        while not (log := home.log_file(spec.name)).exists() or not log.read_text().endswith("\n"):
            await asyncio.sleep(0.02)
    await child.stop()
    found: dict[str, str] = json.loads(log.read_text().splitlines()[0])
    return found


async def test_the_api_alone_gets_the_users_secret_from_the_environment(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SESSION_SECRET, OWN)
    specs = specs_of(home)
    assert {"api", "store-worker", "train-worker", "ray", "temporal", "postgres", "tensorboard"} <= set(specs)
    for name, spec in specs.items():
        found = await environment_of(spec, home)
        assert found.get(SESSION_SECRET) == (OWN if name == "api" else None), name
        assert name == "api" or OWN not in found.values(), name


async def test_a_secret_in_the_settings_file_reaches_the_api(home: Home, tmp_path: Path) -> None:
    (tmp_path / "lanista.toml").write_text(f'session_secret = "{OWN}"\n')
    specs = specs_of(home)
    assert [name for name, spec in specs.items() if SESSION_SECRET in spec.environment] == ["api"]
    assert specs["api"].environment[SESSION_SECRET] == OWN


def test_without_a_setting_the_secret_is_kept_in_the_data_folder(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = specs_of(home)["api"].environment, specs_of(home)["api"].environment
    assert first[SESSION_SECRET] == second[SESSION_SECRET] == (home.root / "session.secret").read_text()
    monkeypatch.setenv(SESSION_SECRET, first[SESSION_SECRET])
    assert ApiSettings.load().session_secret is not None  # long enough for the setting's own rule


def test_what_other_commands_read_to_reach_the_stack_has_no_secret_of_sessions(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SESSION_SECRET, OWN)
    parts = Parts(StackSettings.load(home=home.root), home)
    assert SESSION_SECRET not in parts.environment()
    assert OWN not in parts.environment().values()
