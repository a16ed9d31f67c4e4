"""The audit of dependencies tells what pip-audit knew from what it could not know."""

from __future__ import annotations

import json
import sys
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

import pytest

from benchmarks import audit_dependencies
from benchmarks.audit_dependencies import known_vulnerabilities, main, pins


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "pip-audit"
    monkeypatch.setattr(audit_dependencies, "TOOL", place)
    monkeypatch.setattr(audit_dependencies, "deviations", list)
    monkeypatch.setattr(sys, "argv", ["audit_dependencies"])
    return place


def answers(tool: Path, *packages: dict[str, Any]) -> None:
    tool.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps({'dependencies': packages})}\nEND\n")
    tool.chmod(0o755)


def test_every_pin_is_read() -> None:
    assert {"fastapi", "temporalio", "torch", "pydantic-settings"} <= set(pins())


def test_a_vulnerability_is_named_and_fails(tool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = {"name": "h11", "version": "0.1", "vulns": [{"id": "CVE-1", "fix_versions": ["0.2"]}]}
    answers(tool, old, {"name": "x", "version": "1", "vulns": []})
    assert known_vulnerabilities() == (["h11 0.1: CVE-1, fixed in 0.2"], 2)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1 and "CVE-1" in capsys.readouterr().out


def test_nothing_known_is_not_nothing_found(tool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """pip-audit itself exits with 0 where it found no data on any package."""
    answers(tool, {"name": "h11", "skip_reason": "not found"})
    assert known_vulnerabilities() is None
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 3 and "NOT checked" in capsys.readouterr().out
    tool.write_text("#!/bin/sh\nexit 1\n")
    assert known_vulnerabilities() is None
    tool.unlink()
    assert known_vulnerabilities() is None


def test_a_changed_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    info = site / "h11-9.9.dist-info"
    info.mkdir(parents=True)
    (site / "h11.py").write_text("changed")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: h11\nVersion: 9.9\n")
    (info / "RECORD").write_text("h11.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n")
    found = [Distribution.at(info)]
    monkeypatch.setattr(audit_dependencies, "distributions", lambda: found)
    text = " ".join(audit_dependencies.deviations())
    assert "h11 9.9 is installed, and" in text and "h11.py is not the file" in text
