"""Builds the wheel that users install."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ("api", "league", "lanista", "migrations", "orchestrator", "workers", "examples")
FILES = ("pyproject.toml", "README.md", "LICENSE")
BUILD = "import sys; from setuptools.build_meta import build_wheel; print(build_wheel(sys.argv[1]))"


def build_wheel(source: Path, target: Path) -> Path:
    """Build from a copy of the sources, since a build leaves files behind."""
    for name in SOURCES:
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, source / name)
    built = subprocess.run([sys.executable, "-c", BUILD, target], cwd=source, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (wheel,) = target.glob("*.whl")
    return wheel
