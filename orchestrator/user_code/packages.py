"""The packages that own code needs, as its modules say themselves, by Python's inline metadata (PEP 723):

    # /// script
    # dependencies = ["pygame==2.6.1"]
    # ///

They travel with the archive, and each process that imports from it checks that its node has them. So the check is made
on every node, wherever the code runs, before the first line of it.

See docs/decisions/user-code.md.
"""

from __future__ import annotations

import re
import shlex
import socket
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

MOST_PACKAGES = 50
_BLOCK = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
_VERSION = r"(==|!=|<=|>=|~=|<|>)\s*[A-Za-z0-9][A-Za-z0-9.*+!_-]*"
_PACKAGE = re.compile(
    r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"
    r"(\[[A-Za-z0-9._-]+(\s*,\s*[A-Za-z0-9._-]+)*\])?"
    rf"\s*({_VERSION}(\s*,\s*{_VERSION})*)?",
    re.ASCII,
)
"""A name, extras, versions: no URL, no path, no marker, and nothing that pip would take as an option."""


class BadPackages(ValueError):
    """A module names packages in a way that is not allowed."""


class MissingPackages(ImportError):
    """This node lacks packages that own code needs; the message says which, where, and how to install them."""


@dataclass(frozen=True, kw_only=True)
class Lack:
    """A package that is not as the code needs it."""

    wanted: str
    installed: str | None

    def __str__(self) -> str:
        return f"{self.wanted} ({'not installed' if self.installed is None else f'{self.installed} is installed'})"


def packages_of(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The packages that the modules among these files name; raises BadPackages."""
    found = {
        package for path, text in files.items() if path.endswith(".py") for package in _named(path, text) if package
    }
    if len(found) > MOST_PACKAGES:
        raise BadPackages(f"{len(found)} packages are too many; at most {MOST_PACKAGES} are allowed")
    return tuple(sorted(found))


def packages_below(folder: Path) -> tuple[str, ...]:
    """The packages that the modules in a folder name."""
    return packages_of({str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.py"))})


def lacking(packages: Iterable[str]) -> list[Lack]:
    """Those that this process does not find, or finds in another version."""
    return [lack for package in packages if (lack := _lack(package)) is not None]


def refusal(lacks: Sequence[Lack], more: str = "") -> MissingPackages:
    """The error for a node that lacks these."""
    command = shlex.join([sys.executable, "-m", "pip", "install", *(lack.wanted for lack in lacks)])
    return MissingPackages(
        f"node {socket.gethostname()} lacks packages that own code needs: {', '.join(map(str, lacks))}. Install them "
        f"there: {command}{more}"
    )


def _lack(package: str) -> Lack | None:
    from packaging.requirements import InvalidRequirement, Requirement  # here: a client without the extra has it not

    try:
        wanted = Requirement(package)
    except InvalidRequirement as error:
        raise BadPackages(f"{package!r}: {error}") from None
    try:
        installed = version(wanted.name)
    except PackageNotFoundError:
        return Lack(wanted=package, installed=None)
    return None if wanted.specifier.contains(installed, prereleases=True) else Lack(wanted=package, installed=installed)


def _named(path: str, text: bytes) -> list[str]:
    source = text.decode("utf-8", "replace").replace("\r\n", "\n")
    blocks = [found for found in _BLOCK.finditer(source) if found["type"] == "script"]
    if not blocks:
        return []
    if len(blocks) > 1:
        raise BadPackages(f"{path}: it has {len(blocks)} blocks of inline metadata (`# /// script`), not one")
    lines = (line[2:] if line.startswith("# ") else line[1:] for line in blocks[0]["content"].splitlines())
    try:
        named: Any = tomllib.loads("\n".join(lines)).get("dependencies", [])
    except tomllib.TOMLDecodeError as error:
        raise BadPackages(f"{path}: its inline metadata (`# /// script`) is no TOML: {error}") from None
    if not isinstance(named, list):
        raise BadPackages(f"{path}: dependencies are a list of texts")
    for each in named:
        if not isinstance(each, str) or not _PACKAGE.fullmatch(each):
            raise BadPackages(
                f"{path}: {each!r} is no package as it is allowed here: a name, perhaps with versions, as "
                "pygame==2.6.1 or numpy>=2,<3; no URL, path, marker or option"
            )
    return [" ".join(each.split()) for each in named]
