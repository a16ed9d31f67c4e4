"""What measurements of the API make of what they saw, and rows that are kept."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.faults.api_schemathesis import server_errors
from benchmarks.speed.api_load import record


def test_both_codes_of_server_errors_are_counted() -> None:
    said = "- ST101 Server error\n\n- ST102 Server error on undeclared request Content-Type\n\n- ST103 Undocumented\n"
    assert server_errors(said) == 2
    assert server_errors("Test cases:\n  26445 generated, 26445 passed\n") == 0


def test_rows_of_earlier_runs_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps({"2026-01-01 10:00": {"calls": []}}))
    record(file, {"calls": [{"call": "trial", "p95": 12.0}]})
    rows = json.loads(file.read_text())
    assert len(rows) == 2 and list(rows.values())[1]["calls"][0]["p95"] == 12.0
