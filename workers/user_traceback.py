"""The part of a traceback that lies in the user's own code: games, models, algorithms and bots named in trial files."""

from __future__ import annotations

import re
import sysconfig
import traceback
from pathlib import Path

import workers

MAX_FRAMES = 10

_OWN_ROOT = Path(workers.__file__).resolve().parent.parent
OWN_PACKAGES = frozenset({"api", "benchmarks", "lanista", "league", "orchestrator", "workers"})
"""The top packages of Lanista."""
_STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"]).resolve()
_SITE_PACKAGES = "site-packages"
_LIBRARIES = frozenset(
    {"fsspec", "gymnasium", "numpy", "open_spiel", "pettingzoo", "pydantic", "ray", "s3fs", "safetensors", "scipy"}
    | {"temporalio", "torch"}
)

_FRAME = re.compile(
    r'^[ \t]*File "(?P<file>[^"]+)", line \d+, in [^\n]+(?:\n[ \t]{4,}(?!File ")\S[^\n]*)?', re.MULTILINE
)
"""A frame of a formatted traceback with its line of source, if there is one."""
_ARCHIVE = re.compile(r'File "[^"]*/[0-9a-f]{64}/')
"""The folder of an unpacked code archive: the user knows the file by what follows."""


def user_traceback(error: BaseException) -> str:
    """The frames of the user's code, the innermost last; empty where the error has none.

    The frames of a Ray actor are part of the text of Ray's exception, so the formatted traceback is searched.
    """
    text = "".join(traceback.format_exception(error))
    found = [match.group(0) for match in _FRAME.finditer(text) if is_user_file(match.group("file"))]
    return _ARCHIVE.sub('File "', "\n".join(list(dict.fromkeys(found))[-MAX_FRAMES:]))


def is_user_file(file: str) -> bool:
    """Whether the file is neither Lanista's, nor Python's, nor of a library that calls user code."""
    if file.startswith("<"):
        return False
    path = Path(file).resolve()
    if _SITE_PACKAGES in path.parts:
        package = path.parts[path.parts.index(_SITE_PACKAGES) + 1]
        return package not in _LIBRARIES | OWN_PACKAGES
    if path.is_relative_to(_OWN_ROOT) and path.relative_to(_OWN_ROOT).parts[0] in OWN_PACKAGES:
        return False
    return not path.is_relative_to(_STANDARD_LIBRARY)
