"""The benchmark of searched moves a second: who runs beside whom, and rows that are kept."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from benchmarks.speed import search
from benchmarks.speed.search import CLONED, NETWORKS, PEERS, Rate, measurements, searched


def test_rivals_run_beside_what_they_are_compared_with() -> None:
    assert list(measurements(["none", "conv-res 32x2"], PEERS, 16, 1.0)) == [
        "lanista, none",
        "openspiel, none",
        "lanista, conv-res 32x2",
        "pgx+mctx, conv-res 32x2",
    ]
    assert list(measurements(["none"], PEERS, 1, 1.0)) == ["lanista, none"], "its bot needs two simulations"
    assert list(measurements(list(NETWORKS), [], 16, 1.0)) == [f"lanista, {name}" for name in NETWORKS]


def test_a_rate_is_of_whole_searches_and_knows_the_share_of_the_network() -> None:
    row = searched("perceptron 128x128", 1, 0.05)
    assert row.moves_per_second > 0 and row.share is not None and 0.0 < row.share < 1.0
    cloned = searched(CLONED, 2, 0.05)
    assert cloned.moves_per_second > 0 and cloned.share is None and cloned.network == CLONED


def test_what_is_there_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: list[str] = []

    def on_cores(cores: int, measure: partial[Rate]) -> Rate:
        name, simulations, _ = measure.args
        measured.append(f"{name} {simulations} {cores}")
        return Rate(
            engine="lanista", network=name, simulations=simulations, cores=cores, tables=8, moves_per_second=2.0
        )

    monkeypatch.setattr(search, "_on_cores", on_cores)
    line = ["search", "--peers", "", "--networks", "none", "--cores", "1", "--file", str(tmp_path / "rows.json")]
    for simulations in ("1", "1,16"):
        monkeypatch.setattr("sys.argv", [*line, "--json", "--simulations", simulations])
        search.main()
    assert measured == ["none 1 1", "none 16 1"]
    rows = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert list(rows) == ["lanista, none, 1 simulations, 1 cores, 5 s", "lanista, none, 16 simulations, 1 cores, 5 s"]
    assert all("load" in row for row in rows.values())
    monkeypatch.setattr("sys.argv", [*line[:-2], "--file", str(tmp_path / "rows.json"), "--simulations", "16"])
    search.main()
    assert "lanista" in capsys.readouterr().out.splitlines()[1]
    monkeypatch.setattr("sys.argv", [*line, "--networks", "big"])
    with pytest.raises(SystemExit, match="--networks big: allowed are none"):
        search.main()
