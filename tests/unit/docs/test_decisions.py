"""Decisions are complete: each has a status and a date, the index lists all of them, and every link resolves."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "decisions"
INDEX = FOLDER / "README.md"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path != INDEX)
STATUS = re.compile(r"\*\*Status:\*\* (accepted|superseded|planned|open)\b.* · \*\*Date:\*\* (\d{4}-\d\d-\d\d)")
OLD_NUMBERS = {
    *range(1, 6),
    *range(10, 53),
    *range(55, 62),
    *range(65, 83),
    *range(86, 102),
}
"""Decisions once were numbered files; older texts name them by these numbers."""


def headings(path: Path) -> list[str]:
    return re.findall(r"^## (.+)$", path.read_text(encoding="utf-8"), re.M)


def anchor(heading: str) -> str:
    """A heading's fragment, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_decision_has_a_status_a_date_and_a_reason(path: Path) -> None:
    _, *sections = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.M)
    assert sections, "the page holds decisions"
    for section in sections:
        heading, _, status, _, *reason = section.split("\n")
        match = STATUS.fullmatch(status)
        assert match, f"{heading}: {status!r} is no status and date"
        assert date.fromisoformat(match[2]) >= date(2026, 11, 16)
        assert len(" ".join(reason).split()) >= 30, f"{heading} gives no reason"


def test_no_heading_ends_in_an_old_number() -> None:
    assert [heading for path in PAGES for heading in headings(path) if re.search(r" \(\d+\)$", heading)] == []


def test_the_index_lists_every_decision_by_subject() -> None:
    by_subject = INDEX.read_text(encoding="utf-8").partition("## By number")[0]
    wanted = [f"[{heading}]({path.name}#{anchor(heading)})" for path in PAGES for heading in headings(path)]
    assert [link for link in wanted if by_subject.count(link) != 1] == []
    assert [path.name for path in PAGES if f"]({path.name})" not in by_subject] == []


def test_the_index_lists_every_old_number() -> None:
    row = r"^\| (\d+) \| (.*) \| \[[\w-]+\]\((.+\.md)#(.+)\) \| (\w+) \|$"
    table = re.findall(row, INDEX.read_text("utf-8"), re.M)
    assert [int(old) for old, *_ in table] == sorted(OLD_NUMBERS)
    assert len({(page, fragment) for _, _, page, fragment, _ in table}) == len(table), "every number is one decision"
    for _, title, page, fragment, status in table:
        section = re.split(r"^## ", (FOLDER / page).read_text(encoding="utf-8"), flags=re.M)
        (found,) = [text for text in section if anchor(text.partition("\n")[0]) == fragment]
        assert found.partition("\n")[0] == title
        assert f"**Status:** {status}" in found


def test_no_text_names_a_numbered_file() -> None:
    """Pages have names; a path with a number is from before."""
    sources = [
        path
        for folder in ("api", "workers", "orchestrator", "league", "lanista", "docs", "tests", "benchmarks")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md", ".js"}
    ]
    old = re.compile(r"decisions/0\d\d\d|decisions/01\d\d")
    assert [str(path) for path in [*sources, *ROOT.glob("*.md")] if old.search(path.read_text("utf-8"))] == []


def test_every_page_is_linked_from_a_module_and_every_link_resolves() -> None:
    folders = ("api", "workers", "orchestrator", "league", "lanista", "benchmarks")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    links = [
        (path, page) for path in sources for page in re.findall(r"docs/decisions/([\w-]+\.md)", path.read_text("utf-8"))
    ]
    assert [(str(path), page) for path, page in links if not (FOLDER / page).exists()] == []
    assert {path.name for path in PAGES} - {page for _, page in links} == set()
