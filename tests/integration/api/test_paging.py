"""Lists in pages of one hold what the whole list does: nothing is lost between two pages."""

from __future__ import annotations

from typing import Any

import httpx
from sqlalchemy import select

from api.store.aliases.moves import AliasKey, Promotion, move_alias
from api.store.tables import ModelVersion
from api.store.trials.create import create_trial
from orchestrator.spec.reading.checking import check_spec
from tests.integration.api.server import Served


def pages_of_one(client: httpx.Client, path: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = client.get(path, params={"limit": 1} | ({"cursor": cursor} if cursor else {})).json()
        assert len(page["items"]) <= 1
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return items


def test_aliases_of_several_games_with_one_name(api: Served, viewer: httpx.Client) -> None:
    games = {"tic_tac_toe", "connect_four", "kuhn_poker"}
    with api.sessions.begin() as session:
        for game in games:
            players = [{"name": "main", "role": "main"}, {"name": "random", "role": "bot", "bot": "random"}]
            spec = check_spec({"game": {"id": game}, "league": {"players": players}})
            trial = create_trial(session, project="many-games", name=game.replace("_", "-"), spec=spec)
            bot = session.scalars(select(ModelVersion.id).where(ModelVersion.trial_id == trial.id)).one()
            for name in ("challenger", "champion"):
                key = AliasKey(project_id=trial.project_id, game=trial.game, name=name)
                move_alias(session, key, bot, Promotion(reason="the only one", actor="ada"))
    path = "/api/v1/projects/many-games/aliases"
    paged = pages_of_one(viewer, path)
    assert paged == viewer.get(path).json()["items"] and len(paged) == 6
    assert {alias["game"] for alias in paged if alias["name"] == "champion"} == games


def test_examples(viewer: httpx.Client) -> None:
    whole = viewer.get("/api/v1/examples").json()
    assert len(whole["items"]) > 2 and whole["next_cursor"] is None
    assert pages_of_one(viewer, "/api/v1/examples") == whole["items"]
