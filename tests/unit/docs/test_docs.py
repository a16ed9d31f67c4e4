"""What exists is documented: every setting, command, option, endpoint and make target. What is documented exists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import Field

from api.schemas.events import KINDS
from api.settings import ApiSettings
from api.web.app import create_app
from benchmarks.__main__ import measurements
from benchmarks.documentation.blocks import prose_of
from lanista.cli import app
from lanista.settings import ALL_SETTINGS, INTERNAL
from orchestrator.settings import LanistaSettings, environment_name

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@cache
def page(name: str) -> str:
    return (ROOT / "docs" / "guides" / f"{name}.md").read_text(encoding="utf-8")


def commands() -> dict[str, set[str]]:
    """Every command with its options."""

    def walk(command: Any, path: str) -> Iterator[tuple[str, set[str]]]:
        for name, below in getattr(command, "commands", {}).items():
            yield from walk(below, f"{path} {name}")
        if not hasattr(command, "commands"):
            yield path, {name for parameter in command.params for name in parameter.opts if name.startswith("-")}

    return dict(walk(typer.main.get_command(app), "lanista"))


def endpoints() -> list[str]:
    paths = create_app(ApiSettings()).openapi()["paths"]
    return [f"{method.upper()} {path}" for path, operations in paths.items() for method in operations]


def check_settings(groups: Iterable[type[LanistaSettings]], text: str) -> None:
    """Every setting has a row with its variable, key, default and meaning, and every row is a setting."""
    rows = {match[1]: match[0] for match in re.finditer(r"^\| `((?:LANISTA|RAY)_\w+)` \|.*$", text, re.M)}
    named = {environment_name(group, field) for group in groups for field in group.model_fields}
    assert set(rows) == named | INTERNAL
    for group in groups:
        for field, info in group.model_fields.items():
            row = rows[environment_name(group, field)]
            assert f"| `{field}` |" in row
            assert info.description, f"{field} does not say what it is"
            if isinstance(info.default, int | float) and not isinstance(info.default, bool):
                assert f"`{info.default:g}`" in row or f"`{info.default}`" in row, f"{field}: {info.default} in {row}"


def test_every_setting_is_documented_with_its_key_and_description() -> None:
    check_settings(ALL_SETTINGS, page("settings"))


def test_a_setting_without_documentation_is_found() -> None:
    class MadeUpSettings(LanistaSettings):
        made_up: int = Field(default=7, description="made up")

    row = "| `LANISTA_MADE_UP` | `made_up` | `7` | made up |"
    check_settings([*ALL_SETTINGS, MadeUpSettings], f"{page('settings')}\n{row}\n")
    for text in (page("settings"), f"{page('settings')}\n{row.replace('7', '8')}\n"):
        with pytest.raises(AssertionError):
            check_settings([*ALL_SETTINGS, MadeUpSettings], text)


def test_every_command_and_option_is_documented() -> None:
    text = page("command-line")
    assert "--detach" in commands()["lanista up"]
    missing = [path for path in commands() if not re.search(rf"`{re.escape(path)}\b", text)]
    missing += [
        f"{path} {option}"
        for path, options in commands().items()
        for option in options
        if not re.search(rf"[` ]{re.escape(option)}\b", text)
    ]
    assert missing == []


def test_every_documented_command_exists() -> None:
    documented = set(re.findall(r"^\| `(lanista(?: [a-z][a-z-]*)+)", page("command-line"), re.M))
    assert documented - set(commands()) == set()


def test_every_endpoint_is_documented() -> None:
    documented = set(re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) /[^`]*)`", page("rest")))
    assert [endpoint for endpoint in endpoints() if endpoint not in documented] == []


def test_every_documented_endpoint_exists() -> None:
    rows = set(re.findall(r"^\| `((?:GET|POST|PUT|PATCH|DELETE) /[^`]*)`", page("rest"), re.M))
    assert rows - set(endpoints()) == set()


def test_every_kind_of_event_is_documented_with_its_payload() -> None:
    rows = dict(re.findall(r"^\| `([a-z_.]+)` \| [^|]+ \| ([^|]+) \|$", page("rest"), re.M))
    assert set(rows) == set(KINDS)
    for kind, payload in KINDS.items():
        fields = {field.alias or name for name, field in payload.model_fields.items() if name != "key"}
        assert set(re.findall(r"`(\w+)`", rows[kind])) == fields, kind


def test_every_make_target_is_documented() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z]+):.*##", makefile, re.M)
    assert "demo" in targets and "test" in targets
    text = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    assert [target for target in targets if target != "help" and f"make {target}" not in text] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", prose_of(path))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_every_measurement_says_what_it_measures() -> None:
    found = measurements()
    assert found, "there are measurements"
    assert [name for name, purpose in found.items() if len(purpose) < 20] == []
