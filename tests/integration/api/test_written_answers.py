"""Answers that are written from rows are what the OpenAPI document says, to the letter."""

from __future__ import annotations

import json
from typing import Any

import httpx
import jsonschema
import pytest
from pydantic import TypeAdapter

from api.schemas.aliases import Alias, Move
from api.schemas.base import Page
from api.schemas.decisions import Decision
from api.schemas.gates import Gate, GateSummary
from api.schemas.installation.audit_log import Entry
from api.schemas.installation.catalog import Example
from api.schemas.installation.projects import Project
from api.schemas.installation.tokens import Token
from api.schemas.matches import Match, MatchSummary
from api.schemas.metrics import Series
from api.schemas.players import Player, PlayerDetail
from api.schemas.ratings import Ratings
from api.schemas.schedules import Schedule
from api.schemas.tournaments import Entrant, Pairing, Tournament
from api.schemas.trials import Trial, TrialSummary
from api.schemas.versions import Version, VersionDetail
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.server import Served

TRIAL = "/api/v1/trials/{trial_id}"
TOURNAMENT = "/api/v1/tournaments/{tournament_id}"
ALIASES = "/api/v1/projects/{name}/aliases"
WRITTEN = {
    "/api/v1/projects": Page[Project],
    "/api/v1/trials": Page[TrialSummary],
    TRIAL: Trial,
    f"{TRIAL}/players": Page[Player],
    "/api/v1/players/{player_id}": PlayerDetail,
    f"{TRIAL}/versions": Page[Version],
    "/api/v1/versions/{version_id}": VersionDetail,
    f"{TRIAL}/matches": Page[MatchSummary],
    "/api/v1/matches/{match_id}": Match,
    f"{TRIAL}/decisions": Page[Decision],
    f"{TRIAL}/metrics": Page[Series],
    f"{TRIAL}/ratings": Ratings,
    f"{TRIAL}/gates": Page[GateSummary],
    "/api/v1/gates/{gate_id}": Gate,
    "/api/v1/tournaments": Page[Tournament],
    TOURNAMENT: Tournament,
    f"{TOURNAMENT}/entrants": Page[Entrant],
    f"{TOURNAMENT}/pairings": Page[Pairing],
    "/api/v1/schedules": Page[Schedule],
    ALIASES: Page[Alias],
    f"{ALIASES}/{{alias}}": Alias,
    f"{ALIASES}/{{alias}}/history": Page[Move],
    "/api/v1/tokens": Page[Token],
    "/api/v1/audit": Page[Entry],
    "/api/v1/examples": Page[Example],
}
"""Every answer that is written from records."""
PAGED = [
    *(f"{TRIAL}/{name}" for name in ("players", "versions", "matches", "decisions", "metrics", "ratings")),
    f"{TOURNAMENT}/entrants",
    f"{ALIASES}/{{alias}}/history",
    "/api/v1/examples",
]
"""Lists of which there is more than one item, and which nothing else adds to meanwhile."""


@pytest.fixture(scope="module")
def readable(api: Served) -> ReadableLeague:
    return readable_league(api.sessions)


@pytest.fixture(scope="module")
def ids(api: Served, readable: ReadableLeague) -> dict[str, Any]:
    main = readable.league.version_of("main")
    with api.client() as client:
        tournaments = client.get("/api/v1/tournaments", params={"trial_id": readable.trial_id}).json()["items"]
        trial = client.get(f"/api/v1/trials/{readable.trial_id}").json()
        held = {"trial": trial["name"], "format": "round_robin", "entrants": ["latest"]}
        new = {"project": trial["project"], "name": "hourly", "every_seconds": 3600, "tournament": held}
        assert client.post("/api/v1/schedules", json=new).status_code == 201
    return {
        "trial_id": readable.trial_id,
        "gate_id": readable.gate_id,
        "tournament_id": tournaments[0]["id"],
        "player_id": main.player_id,
        "version_id": main.id,
        "match_id": readable.match_ids[0],
        "name": trial["project"],
        "alias": f"champion-{readable.trial_id[-12:]}",
    }


@pytest.fixture(scope="module")
def document(api: Served) -> dict[str, Any]:
    with api.client() as client:
        found: dict[str, Any] = client.get("/openapi.json").json()
    return found


@pytest.mark.parametrize("path", WRITTEN)
def test_an_answer_from_rows_is_what_its_model_would_have_written(
    path: str, admin: httpx.Client, ids: dict[str, Any]
) -> None:
    answer = admin.get(path.format(**ids))
    assert answer.headers["content-type"] == "application/json"
    model: TypeAdapter[Any] = TypeAdapter(WRITTEN[path])
    assert answer.json() == json.loads(model.dump_json(model.validate_json(answer.content)))
    assert answer.json().get("items") != [], "nothing was compared"


@pytest.mark.parametrize("path", WRITTEN)
def test_an_answer_from_rows_fits_its_documented_schema(
    path: str, admin: httpx.Client, ids: dict[str, Any], document: dict[str, Any]
) -> None:
    declared = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(admin.get(path.format(**ids)).json(), {**declared, "components": document["components"]})


@pytest.mark.parametrize("path", PAGED)
def test_a_page_from_rows_ends_where_the_next_begins(path: str, admin: httpx.Client, ids: dict[str, Any]) -> None:
    whole = admin.get(path.format(**ids)).json()
    first = admin.get(path.format(**ids), params={"limit": 1}).json()
    rest = admin.get(path.format(**ids), params={"cursor": first["next_cursor"]}).json()
    assert first["items"] + rest["items"] == whole["items"] and len(whole["items"]) > 1
    assert whole["next_cursor"] is None and rest["next_cursor"] is None
