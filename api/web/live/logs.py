"""The last lines of the logs of each part, without secrets."""

from __future__ import annotations

import re
from pathlib import Path

from api.schemas.installation.system import LogFile, LogLines

PART = r"^[a-z][a-z0-9-]{0,40}$"
MOST_BYTES = 256 * 1024
"""Read at once, from the end of the file: logs may be large."""
HIDDEN = "***"
_SECRETS = (
    # user:password@ of an address
    (re.compile(r"(?<=://)[^\s/@]+@"), f"{HIDDEN}@"),
    # tokens of the API, and one-time codes of sign-in links
    (re.compile(r"lanista_(?!code_)[A-Za-z0-9_-]{16,}"), HIDDEN),
    (re.compile(r"(?<=code=)[\w.~-]+"), HIDDEN),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]+"), rf"\1 {HIDDEN}"),
    # what is called a secret, in JSON, in Python, in shell and in key=value form
    (
        re.compile(
            r"""(?ix) ( \b[\w-]* (?:password|passwd|secret|token|(?:api|access|private|temporal|train|control)[_-]?key)
            [\w-]* ["']? \s*[=:]\s* ["']? ) [^\s"',;}]+"""
        ),
        rf"\1{HIDDEN}",
    ),
)


def without_secrets(line: str) -> str:
    """The line with passwords, tokens and keys replaced."""
    for pattern, shown in _SECRETS:
        line = pattern.sub(shown, line)
    return line


def log_files(folder: str) -> list[LogFile]:
    """The logs in a folder, by name."""
    if not folder:
        return []
    found = [path for path in Path(folder).glob("*.log") if re.match(PART, path.stem) and _is_plain(path)]
    return [LogFile(part=path.stem, size_bytes=path.stat().st_size) for path in sorted(found)]


def last_lines(folder: str, part: str, *, lines: int, after: int | None = None) -> LogLines | None:
    """The last lines of a part's log, or those after a place in it; None if there is no such log."""
    path = Path(folder) / f"{part}.log"
    if not folder or not re.match(PART, part) or not _is_plain(path):
        return None
    size = path.stat().st_size
    begin = max(0, size - MOST_BYTES, after if after is not None and after <= size else 0)
    with path.open("rb") as file:
        file.seek(begin)
        read = file.read(MOST_BYTES)
    whole = read[: read.rfind(b"\n") + 1]  # a line that is being written is for the next answer
    told = whole.decode(errors="replace").splitlines()
    if begin and begin != after:
        told = told[1:]  # the first one may be half a line
    return LogLines(part=part, lines=[without_secrets(line) for line in told[-lines:]], end=begin + len(whole))


def _is_plain(path: Path) -> bool:
    """Whether it is a file of this folder and no link to another place."""
    return path.is_file() and not path.is_symlink()
