"""`lanista serve`, `lanista model export` and `lanista model canary`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lanista.cli import app, connection, terminal
from lanista.cli.connection import ExitCode
from lanista.cli.outside_games import serve as serve_command
from lanista.client.local import ApiAddress
from lanista.rpc.records import WithRecords
from tests.unit.serving.fake_league import FakeLeague
from workers.gateway.options import GatewayOptions

runner = CliRunner()


@pytest.fixture
def league(monkeypatch: pytest.MonkeyPatch) -> FakeLeague:
    made = FakeLeague()
    made.promote(made.add(1))
    monkeypatch.setattr(terminal.out, "width", 160)
    for module in (connection, serve_command):
        monkeypatch.setattr(module, "Client", lambda where, **_: made.connect())
    monkeypatch.setattr(connection, "find_api", lambda **_: ApiAddress("http://lanista.test", "secret"))
    return made


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[GatewayOptions, WithRecords]]:
    """What gateways were started with."""
    calls: list[tuple[GatewayOptions, WithRecords]] = []

    def run(options: GatewayOptions, build: WithRecords, *, on_ready: Any) -> None:
        calls.append((options, build))
        on_ready({"http": 8830})

    monkeypatch.setattr("workers.gateway.process.run_gateway", run)
    return calls


def test_without_an_alias_it_is_the_api_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    monkeypatch.setattr(serve_command, "api", lambda: called.append("api"))
    done = runner.invoke(app, ["serve"])
    assert done.exit_code == 0 and called == ["api"]
    assert "use `lanista api`" in done.stderr and done.stdout == ""


def test_options_reach_the_gateway(league: FakeLeague, started: list[Any], tmp_path: Path) -> None:
    command = ["serve", "--alias", "champion", "--cache", str(tmp_path), "--seats", "0,1", "--swap", "sessions"]
    command += ["--canary", league.champion, "--share", "0.2", "--port", "0", "--tcp-port", "0", "--processes", "2"]
    done = runner.invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "Serving board-games@champion at http 127.0.0.1:8830" in done.stdout
    ((listening, build),) = started
    assert (listening.http_port, listening.tcp_port, listening.grpc_port, listening.processes) == (0, 0, None, 2)
    options = build.build.options
    assert build.followed == options.followed
    assert (options.followed.label, options.cache) == ("board-games@champion", tmp_path / "board-games@champion")
    assert (options.seats, options.swap_sessions, options.share, options.service) == ((0, 1), True, 0.2, None)


def test_recorded_sessions_go_where_they_are_wanted(league: FakeLeague, started: list[Any], tmp_path: Path) -> None:
    command = ["serve", "--alias", "champion", "--cache", str(tmp_path), "--dump-every", "50"]
    assert runner.invoke(app, command).exit_code == 0
    assert runner.invoke(app, [*command, "--dump-keep", "7", "--dump-to", "elsewhere"]).exit_code == 0
    first, second = (build.build.options for _, build in started)
    assert (first.dump, first.artifacts) == ({"every": 50, "keep": 100}, str(tmp_path / "board-games@champion"))
    assert (second.dump, second.artifacts) == ({"every": 50, "keep": 7}, "elsewhere")


def test_wrong_seats_are_named() -> None:
    done = runner.invoke(app, ["serve", "--alias", "a@b", "--seats", "first"])
    assert done.exit_code == ExitCode.USAGE and "write numbers from 0" in done.output


def test_a_version_is_exported_and_compared(league: FakeLeague, tmp_path: Path) -> None:
    command = ["model", "export", "board-games@champion", "--format", "torch", "--to", str(tmp_path / "out")]
    done = runner.invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "model.pt2, spec.json of main:1" in done.stdout and "largest difference from torch" in done.stdout
    assert json.loads((tmp_path / "out" / "spec.json").read_text())["version_id"] == league.champion
    again = runner.invoke(app, command)
    assert again.exit_code == ExitCode.REFUSED and "exists already" in again.stderr


def test_without_the_extra_nothing_is_downloaded(
    league: FakeLeague, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.serving.export.errors.find_spec", lambda name: None)
    done = runner.invoke(app, ["model", "export", "board-games@champion", "--to", str(tmp_path / "out")])
    assert done.exit_code == ExitCode.REFUSED and "pip install 'lanista[onnx]'" in done.stderr
    assert league.downloads == []


def test_canaries_are_shown_with_their_verdict(league: FakeLeague) -> None:
    other = league.add(2)
    league.reports.append(
        {
            "champion_version_id": league.champion,
            "canary_version_id": other,
            "losses": 3,
            "draws": 1,
            "wins": 9,
            "champion_sessions": 120,
            "canary_sessions": 13,
        }
    )
    done = runner.invoke(app, ["model", "canary", "board-games"])
    assert done.exit_code == 0, done.output
    for shown in ("main:2", "main:1", "running", "9/1/3", "13 v. 120"):
        assert shown in done.stdout
    printed = json.loads(runner.invoke(app, ["model", "canary", "board-games", "--json"]).stdout)
    assert printed[0]["canary_version_id"] == other
