"""What is installed is whole: a wheel holds the example trial files, the page and the migrations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ASK = "import json, api.web.routes.catalog as c; print(json.dumps([c.__file__, [e['name'] for e in c._examples()]]))"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contents of the wheel."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_an_installed_api_has_the_examples(installed: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    asked = subprocess.run(
        [sys.executable, "-c", ASK], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    file, names = json.loads(asked.stdout)
    assert file.startswith(str(installed)), "the wheel's code answers, not the repository's"
    assert names == sorted(path.stem for path in (ROOT / "examples").glob("*.yaml")) and "alphastar" in names


@pytest.mark.parametrize(
    "folder", ["api/web/page", "api/web/reports/templates", "migrations/versions", "lanista/new/templates"]
)
def test_the_wheel_holds_every_file_of(installed: Path, folder: str) -> None:
    def files(base: Path) -> set[str]:
        found = (base / folder).rglob("*")
        return {str(path.relative_to(base)) for path in found if path.is_file() and path.suffix != ".pyc"}

    assert files(ROOT) and files(ROOT) <= files(installed)
