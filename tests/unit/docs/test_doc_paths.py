"""Paths, modules and functions that the documentation names in backticks exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.catalog import Kind

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = (
    "api",
    "workers",
    "orchestrator",
    "league",
    "lanista",
    "migrations",
    "benchmarks",
    "tests",
    "docs",
    "examples",
    "clients",
    "protos",
)
PACKAGES = FOLDERS[:5]
NO_ROOMS = {"api/store/", "api/web/"}
"""Folders that hold only other folders, or what ties them together."""
NO_MODULES = {"lanista.toml", *(kind.group for kind in Kind)}


def in_backticks(path: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.findall(r"`([^`\s]+)`", text)


def paths_named(path: Path) -> Iterator[str]:
    """What reads as a path of this repository: `api/store/`, `league/lifecycle.py`."""
    for text in in_backticks(path):
        if re.fullmatch(r"[\w./-]+", text) and text.partition("/")[0] in FOLDERS and "/" in text:
            yield text


def files_named(path: Path) -> Iterator[str]:
    """Source files named by the end of their path: `core/dom.js`."""
    for text in in_backticks(path):
        if re.fullmatch(r"[\w/-]+\.(py|js|j2|css)", text):
            yield text


def modules_named(path: Path) -> Iterator[str]:
    """`workers.games.names`, `league.payoff`, `workers.rollout.tally.TallyBoard`."""
    for text in set(in_backticks(path)) - NO_MODULES:
        if re.fullmatch(rf"({'|'.join(PACKAGES)})(\.[a-zA-Z_]\w*)+", text):
            yield text


def module_exists(dotted: str) -> bool:
    """Whether it is a module, or a name that a module's text defines or imports."""
    *parents, name = dotted.split(".")
    place = ROOT.joinpath(*parents, name)
    if place.with_suffix(".py").exists() or place.is_dir():
        return True
    holder = ROOT.joinpath(*parents)
    source = holder.with_suffix(".py") if holder.with_suffix(".py").exists() else holder / "__init__.py"
    return source.exists() and re.search(rf"\b{name}\b", source.read_text(encoding="utf-8")) is not None


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_page_names_exists(path: Path) -> None:
    assert [text for text in paths_named(path) if not (ROOT / text).exists()] == []
    assert [text for text in modules_named(path) if not module_exists(text)] == []
    sources = {f"/{found.relative_to(ROOT)}" for folder in FOLDERS for found in (ROOT / folder).rglob("*.*")}
    missing = [text for text in files_named(path) if not any(found.endswith(f"/{text}") for found in sources)]
    assert missing == []


def test_functions_of_the_data_model_are_where_the_guide_says() -> None:
    guide = (ROOT / "docs" / "guides" / "data-model.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| (`[\w/]+\.py`(?:, `[\w/]+\.py`)*) \|", guide, re.M)
    assert rows
    for functions, files in rows:
        source = "".join((ROOT / file).read_text(encoding="utf-8") for file in re.findall(r"`(.+?)`", files))
        assert [name for name in re.findall(r"`(\w+)`", functions) if f"def {name}(" not in source] == []


def test_the_architecture_lists_every_folder() -> None:
    """A newcomer finds each room of the packages in one table."""
    table = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("| folder | holds |")[2]
    listed = re.findall(r"^\| `([\w/]+/)` \| .+ \|$", table, re.M)
    rooms = {f"{path.parent.relative_to(ROOT)}/" for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert {*listed, "api/web/page/"} == {room for room in rooms if room.count("/") > 1} - NO_ROOMS | {"api/web/page/"}
    assert len(listed) == len(set(listed))
