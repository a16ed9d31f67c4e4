"""The page's modules fit together without a build step: every path that one of them names is a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from api.web.page_files import SEGMENTS

PAGE = Path(__file__).parents[3] / "api/web/page"
STATIC = PAGE / "static"
MODULES = sorted(STATIC.rglob("*.js"))
IMPORT = re.compile(r'^(?:import|export) [^;=(]*?from "([^"]+)";', re.MULTILINE)
ADDRESS = re.compile(r'(?:href|src)="/static/([^"]+)"')
ROUTE = re.compile(r'^  \["(/[^"]*)", "([a-z_]+)"\],$', re.MULTILINE)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(STATIC)))
def test_every_import_is_a_relative_path_to_a_file(module: Path) -> None:
    for path in IMPORT.findall(module.read_text()):
        assert path.startswith("."), f"{path}: the browser finds no bare names"
        assert (module.parent / path).is_file(), path


def test_the_document_names_files_that_exist() -> None:
    named = ADDRESS.findall((PAGE / "index.html").read_text())
    assert "app.js" in named
    assert [path for path in named if not (STATIC / path).is_file()] == []
    assert {path for path in named if path.endswith(".css")} == {
        str(path.relative_to(STATIC)) for path in STATIC.rglob("*.css")
    }


def test_the_server_knows_every_address_of_the_page() -> None:
    routes = {address.split("/")[1] for address, _ in ROUTE.findall((STATIC / "app.js").read_text())}
    assert routes - set(SEGMENTS) == set(), "such an address would be answered with 404 when it is loaded again"


def test_every_page_has_a_route_and_every_route_a_page() -> None:
    routed = {page for _, page in ROUTE.findall((STATIC / "app.js").read_text())}
    pages = {path.stem for path in (STATIC / "pages").glob("*.js")}
    assert pages - routed == {"sign_in", "not_found"}
    assert routed <= pages
