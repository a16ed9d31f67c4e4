"""Answers that are written from rows are what the OpenAPI document says, to the letter."""

from __future__ import annotations

import json
from typing import Any

import httpx
import jsonschema
import pytest
from pydantic import TypeAdapter

from api.schemas.base import Page
from api.schemas.decisions import Decision
from api.schemas.gates import Gate
from api.schemas.matches import MatchSummary
from api.schemas.players import Player
from api.schemas.ratings import Ratings
from api.schemas.tournaments import Entrant
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.server import Served

TRIAL = "/api/v1/trials/{trial_id}"
WRITTEN = {
    f"{TRIAL}/players": Page[Player],
    f"{TRIAL}/matches": Page[MatchSummary],
    f"{TRIAL}/decisions": Page[Decision],
    f"{TRIAL}/ratings": Ratings,
    "/api/v1/gates/{gate_id}": Gate,
    "/api/v1/tournaments/{tournament_id}/entrants": Page[Entrant],
}
PAGES = [path for path in WRITTEN if path.startswith(TRIAL)]


@pytest.fixture(scope="module")
def readable(api: Served) -> ReadableLeague:
    return readable_league(api.sessions)


@pytest.fixture(scope="module")
def ids(api: Served, readable: ReadableLeague) -> dict[str, str]:
    with api.client() as client:
        tournaments = client.get("/api/v1/tournaments", params={"trial_id": readable.trial_id}).json()["items"]
    return {"trial_id": readable.trial_id, "gate_id": readable.gate_id, "tournament_id": tournaments[0]["id"]}


@pytest.fixture(scope="module")
def document(api: Served) -> dict[str, Any]:
    with api.client() as client:
        found: dict[str, Any] = client.get("/openapi.json").json()
    return found


@pytest.mark.parametrize("path", WRITTEN)
def test_an_answer_from_rows_is_what_its_model_would_have_written(
    path: str, viewer: httpx.Client, ids: dict[str, str]
) -> None:
    answer = viewer.get(path.format(**ids))
    assert answer.headers["content-type"] == "application/json"
    model: TypeAdapter[Any] = TypeAdapter(WRITTEN[path])
    assert answer.json() == json.loads(model.dump_json(model.validate_json(answer.content)))
    listed = answer.json()
    assert listed if isinstance(listed, list) else listed.get("items", listed.get("path")), "nothing was compared"


@pytest.mark.parametrize("path", WRITTEN)
def test_an_answer_from_rows_fits_its_documented_schema(
    path: str, viewer: httpx.Client, ids: dict[str, str], document: dict[str, Any]
) -> None:
    declared = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(viewer.get(path.format(**ids)).json(), {**declared, "components": document["components"]})


@pytest.mark.parametrize(
    "path", [path for path, model in WRITTEN.items() if "items" in getattr(model, "model_fields", {})]
)
def test_a_page_from_rows_ends_where_the_next_begins(path: str, viewer: httpx.Client, ids: dict[str, str]) -> None:
    whole = viewer.get(path.format(**ids)).json()
    first = viewer.get(path.format(**ids), params={"limit": 1}).json()
    rest = viewer.get(path.format(**ids), params={"cursor": first["next_cursor"]}).json()
    assert first["items"] + rest["items"] == whole["items"] and len(whole["items"]) > 1
    assert whole["next_cursor"] is None and rest["next_cursor"] is None
