"""Links of the documentation: the file and the heading that each names exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from benchmarks.documentation.blocks import prose_of

_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")


def problems_of_links(page: Path) -> Iterator[str]:
    """Every link of a page that leads nowhere. Addresses of other sites are not called."""
    for number, line in enumerate(prose_of(page).splitlines(), start=1):
        for match in _LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            problem = _problem(page, match[1] or match[2])
            if problem:
                yield f"{page}:{number}: {problem}"


def _problem(page: Path, link: str) -> str | None:
    if link.startswith(("https://", "http://", "mailto:")):
        return None
    name, _, fragment = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    if not target.exists():
        return f"{link}: there is no such file"
    if fragment and target.suffix == ".md" and fragment not in anchors(target):
        return f"{link}: there is no such heading"
    return None


@cache
def anchors(page: Path) -> frozenset[str]:
    """The fragments of a page's headings, as GitHub and the site make them."""
    found: dict[str, int] = {}
    result = []
    for heading in re.findall(r"^#{1,6} (.+?)\s*$", prose_of(page), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        result.append(slug if slug not in found else f"{slug}-{found[slug]}")
        found[slug] = found.get(slug, 0) + 1
    return frozenset(result)
