"""Names that a trial may use, and example trial files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Response

import api
from api.schemas.base import Page
from api.schemas.installation.catalog import Catalog, Example
from api.store.core.records import Record
from api.web.auth.scopes import Viewer
from api.web.responses.paging import Limit, NameCursor
from api.web.responses.serialization import SerializingRoute, records_page
from orchestrator.catalog import describe
from orchestrator.spec import trial_json_schema
from orchestrator.spec.algorithms.choice import BUILT_IN_ALGORITHMS
from orchestrator.spec.reading.loading import load_trial_file

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1", tags=["catalog"])

EXAMPLES = Path(api.__path__[0]) / "examples"
"""The example trial files: in the repository a symbolic link to `examples/`, in a wheel the files themselves."""


@router.get("/catalog", summary="List the names that a trial may use", response_model=Catalog)
def catalog(principal: Viewer) -> Response:
    """Games, models, algorithms, bots, matchmakers and agents, built in and from installed packages."""
    return Response(_catalog(), media_type="application/json")


@cache
def _catalog() -> bytes:
    """Cached: installed packages do not change while the process runs."""
    found = describe()
    algorithms = [{**entry, "options_schema": _options_schema(entry["name"])} for entry in found["algorithms"]]
    whole = Catalog.model_validate({**found, "algorithms": algorithms, "trial_schema": trial_json_schema()})
    return whole.model_dump_json().encode()


def _options_schema(name: str) -> dict[str, Any] | None:
    """JSON Schema of a built-in algorithm's options; only a worker knows those of other packages."""
    choice = BUILT_IN_ALGORITHMS.get(name)
    return None if choice is None else choice.model_json_schema()


@router.get("/examples", summary="List example trial files", response_model=Page[Example])
def examples(principal: Viewer, limit: Limit = 50, cursor: NameCursor = None) -> Response:
    """One small trial file for each preset, by name."""
    rest = [example for example in _examples() if cursor is None or example["name"] > cursor]
    return records_page(rest, limit, Example, "name")


@cache
def _examples() -> tuple[Record, ...]:
    return tuple(_example(path) for path in sorted(EXAMPLES.glob("*.yaml"), key=lambda path: path.stem))


def _example(path: Path) -> Record:
    text = path.read_text(encoding="utf-8")
    title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("#")), path.stem)
    return {"name": path.stem, "title": title, "text": text, "spec": load_trial_file(path).spec.to_json()}
