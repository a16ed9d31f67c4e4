"""Audit the pinned dependencies: known vulnerabilities where their data can be reached, else files against hashes."""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackagePath, distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PINS = ROOT / "constraints.txt"
TOOL = ROOT / ".venv" / "audit" / "bin" / "pip-audit"
"""Installed apart from Lanista by `make audit-deps`, so that it brings no dependency of its own."""
LARGEST = 64 << 20
"""Larger files (of torch) are left out: they take minutes to hash."""


def pins() -> dict[str, str]:
    """Every pinned package with its version."""
    lines = [line.partition("==") for line in PINS.read_text(encoding="utf-8").splitlines() if "==" in line]
    return {_normal(name): version for name, _, version in lines}


def known_vulnerabilities() -> tuple[list[str], int] | None:
    """What pip-audit finds, and how many packages it had data for; None where it had none for any."""
    if not TOOL.exists():
        return None
    command = [str(TOOL), "--requirement", str(PINS), "--no-deps", "--disable-pip", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        packages: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return None  # it did not get as far as an answer
    known = [package for package in packages if "skip_reason" not in package]
    found = [
        f"{package['name']} {package['version']}: {each['id']}, fixed in {' '.join(each['fix_versions']) or 'none'}"
        for package in known
        for each in package["vulns"]
    ]
    return (found, len(known)) if known else None


def deviations() -> Iterator[str]:
    """Installed packages that are not the pinned ones, and files that are not those of their wheel."""
    pinned = pins()
    for package in distributions():
        name = _normal(package.name)
        if name in pinned and package.version.partition("+")[0] != pinned[name].partition("+")[0]:
            yield f"{name} {package.version} is installed, and {pinned[name]} is pinned"
        if name in pinned:
            yield from _changed_files(package)


def _changed_files(package: Distribution) -> Iterator[str]:
    for file in package.files or ():
        if file.hash is not None and not file.parts[0].startswith(".."):
            path = Path(str(package.locate_file(file)))
            if not path.exists():
                yield f"{package.name}: {file} is missing"
            elif path.stat().st_size <= LARGEST and file.hash.value.rstrip("=") not in _hashes(path, file):
                yield f"{package.name}: {file} is not the file that was installed"


def _hashes(path: Path, file: PackagePath) -> tuple[str, str]:
    """As the standard writes it, and as some build tools do."""
    digest = hashlib.new(file.hash.mode, path.read_bytes())  # type: ignore[union-attr]
    return base64.urlsafe_b64encode(digest.digest()).decode().rstrip("="), digest.hexdigest()


def _normal(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(".", "-")


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    answer = known_vulnerabilities()
    if answer is not None:
        found, known = answer
        print(f"pip-audit: {known} of {len(pins())} pinned packages checked, {len(found)} known vulnerabilities")
    else:
        found = []
        print("pip-audit has no data here (no network, or an index without it): known vulnerabilities were NOT checked")
    changed = list(deviations())
    print(f"installed files against the pins and their wheels' hashes: {len(changed)} differ")
    for line in (*found, *changed):
        print(f"  {line}")
    if found or changed:
        sys.exit(1)
    if answer is None:
        sys.exit(3)


if __name__ == "__main__":
    main()
