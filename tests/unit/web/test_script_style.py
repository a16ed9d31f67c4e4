"""JavaScript and CSS are linted and formatted by `make check`, all of them, and no line is too long."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
LONGEST = 140


def checked() -> list[Path]:
    """What the Makefile gives the tools."""
    (scripts,) = re.findall(r"^SCRIPTS := (.+)$", MAKEFILE, re.M)
    return [ROOT / path for path in scripts.split()]


def sources() -> list[Path]:
    """Every script and style sheet of the repository."""
    folders = ("api", "workers", "orchestrator", "league", "lanista", "benchmarks", "clients", "docs", "examples")
    found = [
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".js", ".mjs", ".css"}
    ]
    assert len(found) > 40
    return found


def test_make_check_runs_the_linter_and_the_formatter() -> None:
    (check,) = re.findall(r"^check:.*\n((?:\t.*\n)+)", MAKEFILE, re.M)
    assert "oxlint --quiet $(SCRIPTS)" in check and "oxfmt --check $(SCRIPTS)" in check


def test_the_tools_are_given_every_script() -> None:
    given = checked()
    assert [path for path in sources() if not any(path.is_relative_to(each) for each in given)] == []


def test_no_line_is_too_long() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > LONGEST
    ]
    assert long == []


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("const unused = 1;\n", "no-unused-vars"),
        ("export const found = nowhere();\n", "no-undef"),
        ("export const same = (a, b) => a == b;\n", "eqeqeq"),
    ],
)
def test_the_linter_refuses_mistakes(tmp_path: Path, source: str, rule: str) -> None:
    path = tmp_path / "planted.js"
    path.write_text(source)
    ran = subprocess.run(
        [BIN / "oxlint", "--quiet", "-c", ROOT / ".oxlintrc.json", path], capture_output=True, text=True, check=False
    )
    assert ran.returncode != 0 and rule in ran.stdout


def test_the_formatter_refuses_another_form(tmp_path: Path) -> None:
    (tmp_path / "planted.js").write_text("export const  two = 1+1\n")
    ran = subprocess.run([BIN / "oxfmt", "--check", "."], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode != 0 and "planted.js" in ran.stdout + ran.stderr
