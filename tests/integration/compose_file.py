"""docker-compose.yml as the tests see it: its text, its variables, and what becomes of it once they are filled in."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.yml"

SECRETS = {
    "LANISTA_POSTGRES_PASSWORD": "p$1: @/'\"",
    "LANISTA_DATABASE_PASSWORD": "d#2",
    "LANISTA_DATABASE_APP_PASSWORD": "a' 2\\",
    "LANISTA_TEMPORAL_PASSWORD": "t%3",
    "LANISTA_TEMPORAL_KEY": "k" * 32,
    "LANISTA_TEMPORAL_TRAIN_KEY": "l" * 32,
    "LANISTA_RAY_TOKEN": "r" * 32,
    "LANISTA_GATEWAY_CONTROL_KEY": "c" * 32,
    "LANISTA_GATEWAY_TOKEN": "g" * 32,
}
"""The required variables; passwords with everything that quoting can get wrong."""

_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<rest>[^}]*))?\}")


@dataclass(frozen=True)
class Use:
    """One place where the file asks for a variable."""

    name: str
    required: bool
    default: str | None


def uses(text: str) -> list[Use]:
    """Every use of a variable: in braces, or as a name of the environment that is handed on."""
    found = [
        Use(match["name"], match["kind"] == "?", match["rest"] if match["kind"] == "-" else None)
        for match in _VARIABLE.finditer(text)
    ]
    return found + [Use(name, False, None) for name in re.findall(r"^  ([A-Z_]+):$", text, re.MULTILINE)]


def services(given: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The services with the variables filled in, the file's own defaults where nothing is given."""

    def fill(value: Any) -> Any:
        if isinstance(value, str):
            return _VARIABLE.sub(lambda match: given.get(match["name"]) or match["rest"] or "", value)
        if isinstance(value, dict):
            return {key: fill(item) for key, item in value.items()}
        return [fill(item) for item in value] if isinstance(value, list) else value

    filled: dict[str, dict[str, Any]] = fill(yaml.safe_load(FILE.read_text())["services"])
    return filled


def commands(service: Mapping[str, Any]) -> list[list[str]]:
    """The command lines a service runs, those behind `sh -c` taken apart."""
    words = service.get("command") or []
    if words[:2] != ["sh", "-c"]:
        return [words] if words else []
    return [shlex.split(part.strip().removeprefix("exec ")) for part in words[2].split("&&")]


def compose_tool() -> list[str] | None:
    """The real tool, in whichever form is installed."""
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    if shutil.which("docker"):
        plugin = subprocess.run(["docker", "compose", "version"], capture_output=True)
        return ["docker", "compose"] if plugin.returncode == 0 else None
    return None
