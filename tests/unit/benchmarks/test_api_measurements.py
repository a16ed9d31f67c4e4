"""What measurements of the API make of what they saw, and rows that are kept."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.faults.api_schemathesis import failures, server_errors
from benchmarks.speed.api_load import record

SAID = """
- ST101 Server error

Failures:
  ❌ ST101 Server error: 1
  ❌ ST102 Server error on undeclared request Content-Type: 2
  ❌ ST112 Response time limit exceeded: 6

For more information, run `st explain <code>` for ST101, ST112.
"""


def test_both_codes_of_server_errors_are_counted_once_each() -> None:
    found = failures(SAID)
    assert found["ST112 Response time limit exceeded"] == 6 and len(found) == 3
    assert server_errors(found) == 3
    assert failures("Test cases:\n  26445 generated, 26445 passed\n") == {}


def test_rows_of_earlier_runs_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps({"2026-01-01 10:00": {"calls": []}}))
    record(file, {"calls": [{"call": "trial", "p95": 12.0}]})
    rows = json.loads(file.read_text())
    assert len(rows) == 2 and list(rows.values())[1]["calls"][0]["p95"] == 12.0
