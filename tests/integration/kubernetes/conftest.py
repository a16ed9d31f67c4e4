"""The Secrets that make-secrets.sh makes, taken from a stand-in for kubectl."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.integration.kubernetes.manifests import FOLDER

STAND_IN = """#!/bin/sh
# kubectl create secret generic NAME --namespace NAMESPACE --from-env-file=/dev/stdin
test "$1 $2 $3 $5 $7" = "create secret generic --namespace --from-env-file=/dev/stdin" || exit 2
cat > "$FOLDER/$6.$4"
"""

Secrets = dict[str, dict[str, str]]


@pytest.fixture(scope="session")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Secrets:
    """Every Secret in the namespace lanista, by name."""
    folder = tmp_path_factory.mktemp("secrets")
    tool = folder / "kubectl"
    tool.write_text(STAND_IN)
    tool.chmod(0o755)
    given = {
        "PATH": f"{folder}:/usr/bin:/bin",
        "FOLDER": str(folder),
        "LANISTA_DATABASE_PASSWORD": "d#2 = x",
        "LANISTA_DATABASE_APP_PASSWORD": "a' 2",
        "AWS_ACCESS_KEY_ID": "AK",
        "AWS_SECRET_ACCESS_KEY": "SK",
        "LANISTA_TRACE_HEADERS": "x-api-key=a=b, other=c d",
    }
    subprocess.run([FOLDER / "make-secrets.sh"], env=given, check=True)
    return {path.name.partition(".")[2]: _read(path) for path in folder.glob("lanista.*")}


def _read(path: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in path.read_text().splitlines())
