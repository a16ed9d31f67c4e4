"""The pages of the documentation, and their blocks of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^( *)(`{3,})(.*)$")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block of a page. A comment in the line above it may say what is done with it:
    `<!-- run -->` (it is run, with all other such blocks of its page) or `<!-- file: NAME -->` (it is that file there).
    """

    page: Path
    line: int
    language: str
    text: str
    runs: bool = False
    file: str | None = None

    @property
    def place(self) -> str:
        """Where a reader finds it."""
        return f"{_shown(self.page)}:{self.line}"


def _shown(page: Path) -> str:
    return str(page.relative_to(ROOT) if page.is_relative_to(ROOT) else page)


def pages(root: Path = ROOT) -> list[Path]:
    """Every page that is checked: those of the docs, and those at the top."""
    top = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
    return [*(root / name for name in top), *sorted((root / "docs").rglob("*.md"))]


@cache
def text_of(page: Path) -> str:
    """A page's text."""
    return page.read_text(encoding="utf-8")


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks of a page, in order. A fence that is never closed raises ValueError."""
    lines = text_of(page).splitlines()
    number = 0
    while number < len(lines):
        opening = FENCE.match(lines[number])
        if not opening:
            number += 1
            continue
        indent, fence, language = opening.groups()
        end = next((n for n in range(number + 1, len(lines)) if lines[n].strip() == fence), None)
        if end is None:
            raise ValueError(f"{_shown(page)}:{number + 1}: the block has no end")
        above = lines[number - 1].strip() if number else ""
        runs, file = _marks(above)
        body = "".join(f"{line.removeprefix(indent)}\n" for line in lines[number + 1 : end])
        yield Block(page=page, line=number + 1, language=language.strip(), text=body, runs=runs, file=file)
        number = end + 1


def _marks(line: str) -> tuple[bool, str | None]:
    """What the comment above a block asks for: whether it is run, and the file that it is."""
    if line == "<!-- run -->":
        return True, None
    found = re.fullmatch(r"<!-- file: (\S+) -->", line)
    return False, found[1] if found else None


def prose_of(page: Path) -> str:
    """A page's text with its blocks blanked, so that lines keep their numbers."""
    return re.sub(
        r"^( *`{3,})[^\n]*\n.*?^\1[ ]*$", lambda block: "\n" * block[0].count("\n"), text_of(page), flags=re.M | re.S
    )
