"""A user's folder that hides one of Lanista's packages is named at the start, in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lanista.checks.shadowing import shadowed

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", ["workers", "league.py", "api"])
def test_a_hiding_folder_or_file_is_named(name: str, tmp_path: Path) -> None:
    if name.endswith(".py"):
        (tmp_path / name).touch()
    else:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", "lanista", "--help"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {tmp_path / name}") and "hides Lanista's own package" in line


def test_nothing_is_hidden_here(tmp_path: Path) -> None:
    assert shadowed([str(ROOT), str(tmp_path)]) is None
