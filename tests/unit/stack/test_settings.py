"""Settings: from the environment and lanista.toml; wrong ones are refused with name, value and what is allowed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.settings import ApiSettings, StoreSettings
from lanista.settings import StackSettings, refuse_unknown
from orchestrator.settings import LanistaSettings, SettingsError, TemporalSettings
from workers.settings import WorkerSettings


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """No settings from outside, and a working folder of its own for lanista.toml."""
    for variable in list(os.environ):
        if variable.startswith(("LANISTA_", "RAY_")):
            monkeypatch.delenv(variable)
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def refusal(group: type[LanistaSettings], **overrides: Any) -> str:
    with pytest.raises(SettingsError) as refused:
        group.load(**overrides)
    return str(refused.value)


def test_environment_wins_over_the_file_and_the_file_over_the_default(
    clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert StackSettings.load().port == 8800
    (clean / "lanista.toml").write_text("port = 9001\nray_cpus = 3\n")
    assert (StackSettings.load().port, StackSettings.load().ray_cpus) == (9001, 3)
    monkeypatch.setenv("LANISTA_PORT", "9002")
    assert StackSettings.load().port == 9002
    assert StackSettings.load(port=9003).port == 9003


def test_another_file_can_be_named(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clean / "other.toml").write_text("port = 9001\n")
    monkeypatch.setenv("LANISTA_CONFIG", str(clean / "other.toml"))
    assert StackSettings.load().port == 9001


@pytest.mark.parametrize(
    ("group", "variable", "value", "said"),
    [
        (StackSettings, "LANISTA_PORT", "abc", ["LANISTA_PORT='abc'", "at least 1, at most 65535"]),
        (StackSettings, "LANISTA_PORT", "70000", ["LANISTA_PORT='70000'", "at most 65535"]),
        (StackSettings, "LANISTA_LOG_LEVEL", "loud", ["LANISTA_LOG_LEVEL='loud'", "debug, info, warning or error"]),
        (StackSettings, "LANISTA_TEMPORAL_ADDRESS", "nowhere", ["LANISTA_TEMPORAL_ADDRESS='nowhere'", "host:port"]),
        (StackSettings, "RAY_ADDRESS", "http://x:1", ["RAY_ADDRESS='http://x:1'", "host:port"]),
        (WorkerSettings, "RAY_ADDRESS", "somewhere", ["RAY_ADDRESS='somewhere'", "auto"]),
        (StoreSettings, "LANISTA_STORE_SLOTS", "0", ["LANISTA_STORE_SLOTS='0'", "at least 1"]),
        (ApiSettings, "LANISTA_TENSORBOARD_URL", "ftp://x", ["LANISTA_TENSORBOARD_URL='ftp://x'", "TensorBoard"]),
        (StackSettings, "LANISTA_TEMPORAL_TLS_CERT", "/no/file", ["LANISTA_TEMPORAL_TLS_CERT='/no/file'", "PEM"]),
    ],
)
def test_a_wrong_value_is_refused_with_name_value_and_what_is_allowed(
    group: type[LanistaSettings], variable: str, value: str, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    message = refusal(group)
    for part in said:
        assert part in message


def test_a_wrong_value_in_the_file_is_named_by_file_and_key(clean: Path) -> None:
    (clean / "lanista.toml").write_text('port = "high"\n')
    assert refusal(StackSettings).startswith("lanista.toml: port='high': ")


def test_a_wrong_value_on_the_command_line_is_named_by_its_flag() -> None:
    assert refusal(StackSettings, port=0).startswith("--port=0: ")


def test_every_wrong_value_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_PORT", "x")
    monkeypatch.setenv("LANISTA_LOG_FORMAT", "y")
    message = refusal(StackSettings)
    assert "LANISTA_PORT='x'" in message and "LANISTA_LOG_FORMAT='y'" in message


@pytest.mark.parametrize("url", ["mysql://user:hush@db/x", "no url at all hush", "sqlite:///hush"])
def test_a_wrong_database_is_refused_and_its_text_kept_secret(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_DATABASE_URL", url)
    for group in (StackSettings, ApiSettings):
        message = refusal(group)
        assert message.startswith("LANISTA_DATABASE_URL=(hidden): ")
        assert "postgresql" in message and "hush" not in message


def test_settings_that_contradict_each_other_are_refused(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_TEMPORAL_TLS", "true")
    assert "LANISTA_TEMPORAL_ADDRESS" in refusal(StackSettings)
    monkeypatch.setenv("LANISTA_TEMPORAL_ADDRESS", "cloud:7233")
    assert StackSettings.load().temporal_tls
    (clean / "cert.pem").write_text("")
    monkeypatch.setenv("LANISTA_TEMPORAL_TLS_CERT", str(clean / "cert.pem"))
    assert "LANISTA_TEMPORAL_TLS_KEY: set both or neither" in refusal(TemporalSettings)


def test_an_unknown_variable_is_refused_with_the_nearest_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_PROT", "8800")
    with pytest.raises(SettingsError, match=r"LANISTA_PROT: no such setting .*Did you mean LANISTA_PORT\?"):
        refuse_unknown()


def test_an_unknown_key_in_the_file_is_refused(clean: Path) -> None:
    (clean / "lanista.toml").write_text("prot = 8800\n")
    with pytest.raises(SettingsError, match=r"prot: no such setting \(key in lanista.toml\). Did you mean port\?"):
        refuse_unknown()


@pytest.mark.parametrize("content", [b"port = ", b"\xff\xfe"])
def test_a_file_that_is_no_toml_is_refused_by_name(clean: Path, content: bytes) -> None:
    (clean / "lanista.toml").write_bytes(content)
    with pytest.raises(SettingsError, match=r"lanista\.toml: not valid TOML"):
        refuse_unknown()
    assert refusal(StackSettings).startswith("lanista.toml: ")


def test_a_named_file_that_is_missing_or_a_folder_is_refused(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_CONFIG", str(clean / "missing.toml"))
    with pytest.raises(SettingsError, match=r"missing\.toml.*no such file"):
        refuse_unknown()
    monkeypatch.setenv("LANISTA_CONFIG", str(clean))
    with pytest.raises(SettingsError, match="cannot be read"):
        refuse_unknown()


def test_right_settings_pass(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clean / "lanista.toml").write_text("port = 8801\nray_address = 'head:6379'\n")
    monkeypatch.setenv("LANISTA_LOG_LEVEL", "debug")
    refuse_unknown()
    assert StackSettings.load().ray_address == "head:6379"
