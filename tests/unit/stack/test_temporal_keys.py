"""The keys that seal what goes through Temporal: kept in the data folder, given to each process by its need."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path

import pytest

from lanista.settings import StackSettings
from lanista.stack.home import Home
from lanista.stack.parts import Parts
from lanista.stack.temporal_keys import LEAGUE_KEY, SEALED_SINCE, TRAIN_KEY, TemporalKeys
from orchestrator.sealing import KeyUse
from orchestrator.settings import SettingsError, TemporalSettings
from orchestrator.temporal import connect


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / "home")
    found.create()
    return found


def keys(home: Home) -> TemporalKeys:
    return TemporalKeys(StackSettings.load(home=home.root), home)


def test_keys_are_made_once_and_private(home: Home) -> None:
    first = keys(home).store_environment()
    assert first[LEAGUE_KEY] != first[TRAIN_KEY]
    assert keys(home).store_environment() == first
    for name in ("temporal.key", "temporal-train.key"):
        assert (home.root / name).stat().st_mode & 0o777 == 0o600


def test_only_the_store_and_the_api_get_the_leagues_key(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LEAGUE_KEY, "a secret of the user's own choice")
    parts = Parts(StackSettings.load(home=home.root), home)
    given = {child.name: child.environment for child in parts.specs(lambda: None)}
    assert {name for name, each in given.items() if each.get(LEAGUE_KEY)} == {"api", "store-worker"}
    assert {name for name, each in given.items() if each.get(TRAIN_KEY)} == {"api", "store-worker", "train-worker"}
    secrets = {given["api"][LEAGUE_KEY], given["api"][TRAIN_KEY]}
    assert not [each for child in parts.specs(lambda: None) for each in child.command if each in secrets]


def test_the_http_api_of_temporal_answers_to_no_host(home: Home) -> None:
    parts = Parts(StackSettings.load(home=home.root), home)
    temporal = next(child for child in parts.specs(lambda: None) if child.name == "temporal")
    assert 'frontend.httpAllowedHosts=["closed.invalid"]' in temporal.command
    assert "--headless" in temporal.command


def test_a_data_folder_from_before_sealing_notes_when_it_began(home: Home) -> None:
    home.temporal_db.touch()
    since = keys(home).store_environment()[SEALED_SINCE]
    assert datetime.fromisoformat(since).tzinfo is not None
    assert keys(home).train_environment()[SEALED_SINCE] == since


def test_a_new_data_folder_never_accepts_anything_unsealed(home: Home) -> None:
    assert keys(home).store_environment()[SEALED_SINCE] == ""
    home.temporal_db.touch()
    assert keys(home).store_environment()[SEALED_SINCE] == ""


def test_sealing_cannot_be_switched_off_with_the_embedded_temporal(monkeypatch: pytest.MonkeyPatch, home: Home) -> None:
    monkeypatch.setenv("LANISTA_TEMPORAL_SEALED", "false")
    with pytest.raises(SettingsError, match="the embedded one lets every local user in"):
        StackSettings.load(home=home.root)
    monkeypatch.setenv("LANISTA_TEMPORAL_ADDRESS", "temporal.example:7233")
    assert keys(home).store_environment() == {}
    assert not (home.root / "temporal.key").exists()


def test_a_worker_without_its_key_does_not_start() -> None:
    with pytest.raises(SettingsError, match="LANISTA_TEMPORAL_KEY and LANISTA_TEMPORAL_TRAIN_KEY: not set"):
        asyncio.run(connect(TemporalSettings.load(), keys=KeyUse))


@pytest.mark.parametrize(
    ("league", "train", "problem"),
    [
        ("short", "t" * 32, "LANISTA_TEMPORAL_KEY=.hidden.: a secret is shorter than 32 characters"),
        ("s" * 32, f"{'t' * 32},{'s' * 32}", "share a secret"),
    ],
)
def test_bad_keys_are_refused(monkeypatch: pytest.MonkeyPatch, league: str, train: str, problem: str) -> None:
    monkeypatch.setenv(LEAGUE_KEY, league)
    monkeypatch.setenv(TRAIN_KEY, train)
    with pytest.raises(SettingsError, match=problem):
        TemporalSettings.load()


def test_every_role_gets_the_files_of_tls(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = {"LANISTA_TEMPORAL_TLS_CA": "ca.pem", "LANISTA_TEMPORAL_API_KEY_FILE": "key"}
    for variable, name in named.items():
        (tmp_path / name).write_text("x")
        monkeypatch.setenv(variable, str(tmp_path / name))
    monkeypatch.setenv("LANISTA_TEMPORAL_ADDRESS", "temporal.example:7233")
    parts = Parts(StackSettings.load(home=home.root), home)
    given = {child.name: child.environment for child in parts.specs(lambda: None)}
    for role in ("api", "store-worker", "train-worker"):
        assert {variable: given[role].get(variable) for variable in named} == {
            variable: str(tmp_path / name) for variable, name in named.items()
        }
