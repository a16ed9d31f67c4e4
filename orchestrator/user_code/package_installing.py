"""Installs the packages of own code into a folder of this node, where LANISTA_INSTALL_PACKAGES allows it.

What the environment has stays as it is: pip is given all its versions as constraints, and the folder comes last on
`sys.path`. A package that is installed in another version than the code needs is therefore refused, never replaced.

See docs/decisions/user-code.md.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path

from orchestrator.settings import CodeSettings
from orchestrator.user_code.packages import MissingPackages, lacking, packages_below, refusal

_SECONDS = 1_800.0
_SHOWN = 1_500


def require_packages(code: Path, home: Path) -> None:
    """Check that this node has the packages that the modules in `code` name; raises MissingPackages.

    Where the setting allows it, those that lack are installed below `home`, once for all processes of this user.
    """
    packages = packages_below(code)
    lacks = lacking(packages)
    if not lacks:
        return
    if not CodeSettings.load().install_packages:
        raise refusal(lacks, "; or set LANISTA_INSTALL_PACKAGES=true on every node")
    if any(lack.installed is not None for lack in lacks):
        raise refusal(lacks, "; a package that is installed is never replaced by LANISTA_INSTALL_PACKAGES")
    _use(_installed([lack.wanted for lack in lacks], home))
    if lacks := lacking(packages):
        raise refusal(lacks, "; they were installed, and other code of this process has another version loaded")


def _installed(packages: Sequence[str], home: Path) -> Path:
    """The folder with these packages; one process of the node installs, the others wait."""
    named = json.dumps([sys.version, sys.prefix, *sorted(packages)])
    folder = home / f"packages-{hashlib.sha256(named.encode()).hexdigest()}"
    complete = folder / "complete"
    with (home / f"{folder.name}.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a process that died
            folder.mkdir(mode=0o700)
            _install(packages, folder)
            complete.touch()
    return folder


def _install(packages: Sequence[str], folder: Path) -> None:
    kept = folder / "constraints.txt"
    kept.write_text("".join(f"{found.name}=={found.version}\n" for found in distributions() if found.name))
    options = ["--no-input", "--disable-pip-version-check", "--no-warn-script-location", "--only-binary", ":all:"]
    command = [sys.executable, "-m", "pip", "install", *options]
    # wheels alone: the build of a source package is a program that runs before anybody names it
    command += ["--prefix", str(folder), "--constraint", str(kept), "--", *packages]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingPackages(f"packages of own code cannot be installed: {error}") from error
    if done.returncode:
        raise MissingPackages(f"packages of own code cannot be installed: {done.stderr.strip()[-_SHOWN:]}")


def _use(folder: Path) -> None:
    for pattern in ("lib*/python*/*-packages", "local/lib*/python*/*-packages"):  # the second is Debian's
        for place in sorted(map(str, folder.glob(pattern))):
            if place not in sys.path:
                sys.path.append(place)  # last: it must not hide what is installed
    importlib.invalidate_caches()
