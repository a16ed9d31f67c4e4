"""What is installed is whole: a wheel holds the example trial files, the page and the migrations."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("api", "league", "lanista", "migrations", "orchestrator", "workers", "examples")
FILES = ("pyproject.toml", "README.md", "LICENSE")
BUILD = "import sys; from setuptools.build_meta import build_wheel; print(build_wheel(sys.argv[1]))"
ASK = "import json, api.web.routes.catalog as c; print(json.dumps([c.__file__, [each.name for each in c._examples()]]))"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contents of a wheel that was built from a copy of the sources, since a build leaves things behind."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, source / name)
    built = subprocess.run([sys.executable, "-c", BUILD, target], cwd=source, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (wheel,) = target.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target / "site")
    return target / "site"


def test_an_installed_api_has_the_examples(installed: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    asked = subprocess.run(
        [sys.executable, "-c", ASK], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    file, names = json.loads(asked.stdout)
    assert file.startswith(str(installed)), "the wheel's code answers, not the repository's"
    assert names == sorted(path.stem for path in (ROOT / "examples").glob("*.yaml")) and "alphastar" in names


@pytest.mark.parametrize("folder", ["api/web/page", "api/web/reports/templates", "migrations/versions"])
def test_the_wheel_holds_every_file_of(installed: Path, folder: str) -> None:
    def files(base: Path) -> set[str]:
        found = (base / folder).rglob("*")
        return {str(path.relative_to(base)) for path in found if path.is_file() and path.suffix != ".pyc"}

    assert files(ROOT) and files(ROOT) <= files(installed)
