"""The site: every page is in its navigation, nothing is loaded from elsewhere, the reference is complete."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

import lanista.algorithms
import lanista.games
from api.settings import ApiSettings
from api.web.app import create_app
from benchmarks.documentation.blocks import ROOT
from benchmarks.documentation.commands import lanista_command
from benchmarks.documentation.reference import command_line, python_api, rest, trial_file
from benchmarks.documentation.reference.__main__ import PAGES
from benchmarks.documentation.site_hooks import TOP, on_page_markdown
from orchestrator.spec.trial import trial_json_schema

CONFIG = re.sub(r"!!python/\S+", "", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def in_navigation(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict):
        for below in entry.values():
            yield from in_navigation(below)
    else:
        for below in entry:
            yield from in_navigation(below)


def test_every_page_is_in_the_navigation_once() -> None:
    """Decisions have an index of their own."""
    listed = list(in_navigation(yaml.safe_load(CONFIG)["nav"]))
    docs = ROOT / "docs"
    pages = {str(path.relative_to(docs)) for path in docs.rglob("*.md") if path.parent.name != "decisions"}
    wanted = pages | {"decisions/README.md", *TOP, *(f"reference/{name}" for name in PAGES)}
    assert set(listed) == wanted, "mkdocs.yml lists the pages of the site"
    assert len(listed) == len(set(listed))


def test_every_guide_is_in_the_index() -> None:
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    folders = ("start", "moving", "guides")
    pages = [f"{folder}/{path.name}" for folder in folders for path in (ROOT / "docs" / folder).glob("*.md")]
    assert [page for page in pages if f"]({page})" not in index] == []


def test_nothing_is_loaded_from_elsewhere() -> None:
    config = yaml.safe_load(CONFIG)
    assert config["theme"]["font"] is False
    assert "offline" in config["plugins"] and "analytics" not in config["extra"]
    (shim,) = config["extra"]["polyfills"]  # the plugin adds one of another site where none has this name
    assert "iframe-worker" in shim and (ROOT / "benchmarks/documentation" / shim).exists()


def test_links_out_of_the_docs_lead_to_copies_in_the_site() -> None:
    class Page:
        class file:
            src_uri = "guides/security.md"

    text = "[a](../../SECURITY.md#x) [b](rest.md) [c](../../examples/own_game.py) [d](https://example.org/x) [e](#here)"
    assert on_page_markdown(text, Page, None, None) == (
        "[a](../SECURITY.md#x) [b](rest.md) [c](../examples/own_game.py) [d](https://example.org/x) [e](#here)"
    )


def test_the_reference_has_every_field_of_a_trial_file() -> None:
    text = trial_file.page()
    schema = trial_json_schema()
    for name, found in {"The file": schema, **schema["$defs"]}.items():
        fields = found.get("properties", {})
        if fields:
            section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
            assert [field for field in fields if f"| `{field}` |" not in section] == []


def test_the_reference_has_every_command_with_its_options() -> None:
    text = command_line.page()
    found = dict(command_line.walk(lanista_command(), "lanista"))
    assert "lanista trial start" in found
    for path, command in found.items():
        section = text.partition(f"\n## {path}\n")[2].partition("\n## ")[0]
        options = [option for one in command.params for option in one.opts if option.startswith("-")]
        assert [option for option in options if f"`{option}`" not in section] == [], path


def test_the_reference_has_every_endpoint() -> None:
    text = rest.page()
    paths = create_app(ApiSettings()).openapi()["paths"]
    calls = [f"{method.upper()} {path}" for path, operations in paths.items() for method in operations]
    assert [call for call in calls if f"\n## {call}\n" not in text] == []


def test_the_reference_has_every_public_name() -> None:
    text = python_api.page()
    names = ["Client", "train", "load", *lanista.games.__all__, *lanista.algorithms.__all__]
    assert [name for name in names if f"\n### {name}\n" not in text] == []
    assert " at 0x" not in text, "addresses of objects"


def test_the_notebook_runs(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Its cells in order, in one namespace, without Jupyter."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook = json.loads((ROOT / "docs/notebooks/first_run.ipynb").read_text(encoding="utf-8"))
    scope: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "outputs are not kept"
            exec("".join(cell["source"]), scope)
    assert capsys.readouterr().out.startswith("main 0 ")
    assert list(scope["frame"]["generation"]) == [0, 1, 2, 3, 4]
    assert scope["axes"].get_lines(), "a curve was drawn"
    assert (tmp_path / "first-run" / "main.safetensors").exists()
