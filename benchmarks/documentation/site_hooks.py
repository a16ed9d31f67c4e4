"""Hooks of mkdocs: the reference is written from the code, and pages and files outside docs/ are taken along."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

TOP = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
"""Pages beside docs/ that the site has too."""
_LINK = re.compile(r"(\]\(|(?:src|href)=\")([^)\s\"#]+)")


def on_files(files: Any, config: Any) -> Any:
    """Add the reference, the pages of the repository's top, what the search needs, and the examples."""
    from mkdocs.structure.files import File

    sys.path.insert(0, str(ROOT))  # mkdocs imports this file by its path, and puts the path back
    from benchmarks.documentation.reference.__main__ import PAGES

    for name, write in PAGES.items():
        files.append(File.generated(config, f"reference/{name}", content=write()))
    for name in TOP:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    shim = Path(__file__).with_name("iframe-worker.js")
    files.append(File.generated(config, shim.name, abs_src_path=str(shim)))
    for path in sorted((ROOT / "examples").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.suffix in {".py", ".yaml", ".hpp", ".cpp"}:
            files.append(File.generated(config, str(path.relative_to(ROOT)), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links that leave docs/ lead to the copies in the site."""
    home = Path(page.file.src_uri)
    folder = ROOT if home.name in TOP else (ROOT / "docs" / home).parent
    here = home.parent

    def moved(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / match[2]))
        if "://" in match[2] or not target.is_relative_to(ROOT):
            return match[0]
        inside = target.relative_to(ROOT / "docs") if target.is_relative_to(ROOT / "docs") else target.relative_to(ROOT)
        return f"{match[1]}{os.path.relpath(inside, here)}"

    return _LINK.sub(moved, markdown)
