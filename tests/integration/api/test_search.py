"""The search over names, over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
from sqlalchemy import text

from api.store.core.ids import new_id
from api.store.search.find import search
from tests.integration.api.league import readable_league
from tests.integration.api.server import Served
from tests.integration.api.test_trials import make


def find(client: httpx.Client, q: str, **parameters: Any) -> list[tuple[str, str]]:
    answer = client.get("/api/v1/search", params={"q": q, **parameters})
    assert answer.status_code == 200, answer.text
    return [(each["kind"], each["name"]) for each in answer.json()["items"]]


def test_each_kind_is_found_by_its_name(api: Served, viewer: httpx.Client) -> None:
    league = readable_league(api.sessions)
    trial = viewer.get(f"/api/v1/trials/{league.trial_id}").json()
    assert find(viewer, trial["name"])[0] == ("trial", trial["name"])
    assert ("player", "main") in find(viewer, f"{trial['name']} ma")
    assert find(viewer, f"{trial['name']} MAIN v1") == [("version", "main v1")]
    assert find(viewer, f"{trial['name']} main:1") == [("version", "main v1")]
    version = league.league.version_of("main")
    assert find(viewer, version.id)[0][0] == "version" and len(find(viewer, version.id)) == 1
    assert find(viewer, league.trial_id) == [("trial", trial["name"])]


def test_a_name_that_nothing_has_and_signs_of_patterns_find_nothing(viewer: httpx.Client) -> None:
    assert find(viewer, new_id()) == [] and find(viewer, "100%_\\") == []
    for colons in (":", ": ::"):  # tags of other tests may have them
        assert viewer.get("/api/v1/search", params={"q": colons}).status_code == 200
    assert viewer.get("/api/v1/search", params={"q": ""}).status_code == 422
    assert viewer.get("/api/v1/search", params={"q": "a", "limit": 51}).status_code == 422


def test_tags_and_former_names_find_a_trial_and_each_kind_is_limited(operator: httpx.Client) -> None:
    project = f"p-{new_id()}"
    made = [make(operator, project=project, name=f"run-{number}") for number in range(3)]
    operator.patch(f"/api/v1/trials/{made[0]['id']}", json={"name": "winner", "tags": [f"t{project}"]})
    assert find(operator, f"t{project}") == [("trial", "winner")]
    assert find(operator, f"{project} run-0") == [("trial", "winner")]
    assert len([each for each in find(operator, f"{project} run", limit=2) if each[0] == "trial"]) == 2


def test_a_caller_without_a_token_finds_nothing(api: Served) -> None:
    assert httpx.get(f"{api.base}/api/v1/search", params={"q": "main"}).status_code == 401


def test_players_are_found_by_the_index(api: Served) -> None:
    """With scans forbidden the planner says whether the index serves the condition at all."""
    with api.sessions() as session:
        session.execute(text("SET LOCAL enable_seqscan = off"))
        plan = session.execute(
            text("EXPLAIN SELECT id FROM players WHERE name ~>=~ 'main' AND name ~<~ ('main' || chr(1114111))")
        ).scalars()
        assert "ix_players_name_prefix" in "\n".join(plan)
        assert search(session, "no-such-player-anywhere", limit=5) == []
