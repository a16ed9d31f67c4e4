"""Scripts of fakes: a user's Python file, whose functions say what a fake does instead of the defaults."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any


class BadScript(ValueError):
    """A script that cannot be used, with words for its author."""


def load(path: Path, known: Collection[str]) -> dict[str, Callable[..., Any]]:
    """The functions of the script that a fake knows, by name; an error of the script itself is its own traceback."""
    if not path.is_file():
        raise BadScript(f"there is no script {path}")
    names = runpy.run_path(str(path), run_name="lanista_fake")
    found = {name: value for name, value in names.items() if name in known}
    if not found:
        raise BadScript(f"{path} defines none of the functions that are called: {', '.join(known)}")
    for name, value in found.items():
        if not callable(value):
            raise BadScript(f"{path}: {name} is a {type(value).__name__}, not a function")
    return found


def as_bytes(value: object, source: str) -> bytes:
    """What a script returned, as bytes: text in UTF-8, None as nothing."""
    if value is None:
        return b""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise BadScript(f"{source} returned a {type(value).__name__}; it must return bytes, text or None")
