"""Trials of one project and game share their champion: each says which trial it is of, and that it moved."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from sqlalchemy import select, update

from api.schemas.events import AliasMoved, GateOpened, read_event
from api.store.aliases.moves import AliasKey, Promotion, move_alias
from api.store.core.ids import new_id
from api.store.gates.lifecycle import gate_payload
from api.store.tables import Event, Gate, Trial
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.server import Served


@pytest.fixture
def pair(api: Served) -> tuple[ReadableLeague, ReadableLeague, AliasKey]:
    """Two trials whose gates move the same alias."""
    first, second = readable_league(api.sessions), readable_league(api.sessions)
    name = f"shared-{new_id()[-12:]}"
    with api.sessions.begin() as session:
        for each in (first, second):
            trial = session.get_one(Trial, each.trial_id)
            league = {**trial.spec.get("league", {}), "champion_gate": {"alias": name}}
            session.execute(update(Trial).where(Trial.id == trial.id).values(spec={**trial.spec, "league": league}))
        key = AliasKey(project_id=trial.project_id, game=trial.game, name=name)
    return first, second, key


def promote(api: Served, key: AliasKey, league: ReadableLeague, player: str, reason: str) -> None:
    with api.sessions.begin() as session:
        move_alias(session, key, league.league.version_of(player).id, Promotion(reason=reason, actor="test"))


def overview(viewer: httpx.Client, league: ReadableLeague) -> Any:
    return viewer.get(f"/api/v1/trials/{league.trial_id}/overview").json()


def name_of(viewer: httpx.Client, league: ReadableLeague) -> str:
    return str(viewer.get(f"/api/v1/trials/{league.trial_id}").json()["name"])


def test_every_trial_tells_of_the_champion_of_another_one(
    api: Served, viewer: httpx.Client, pair: tuple[ReadableLeague, ReadableLeague, AliasKey]
) -> None:
    first, second, key = pair
    promote(api, key, first, "rival", "its own")
    promote(api, key, second, "main", "it beat the champion")
    seen, home = overview(viewer, first), overview(viewer, second)
    champion = seen["champion"]
    assert (champion["player"], champion["trial_id"]) == ("main", second.trial_id)
    assert champion["trial"] == home["champion"]["trial"] == name_of(viewer, second)
    (move,) = seen["champion_elsewhere"]
    assert (move["player"], move["trial"], move["reason"]) == ("main", champion["trial"], "it beat the champion")
    assert [each["trial_id"] for each in home["champion_elsewhere"]] == [first.trial_id], "the one before its own"
    promote(api, key, first, "main", "it came back")
    assert len(overview(viewer, first)["champion_elsewhere"]) == 1, "its own moves are events of its own"


def test_a_move_of_the_champion_names_the_trial_that_lost_it(
    api: Served, viewer: httpx.Client, pair: tuple[ReadableLeague, ReadableLeague, AliasKey]
) -> None:
    first, second, key = pair
    promote(api, key, first, "rival", "its own")
    promote(api, key, second, "main", "it beat the champion")
    promote(api, key, second, "rival", "another one of its own")
    with api.sessions() as session:
        moves = select(Event).where(Event.trial_id == second.trial_id, Event.type == AliasMoved.KIND)
        events = [event for event in session.scalars(moves.order_by(Event.id)) if event.payload["alias"] == key.name]
    taken, own = (read_event(event.type, event.payload).text for event in events)
    assert taken == f"{key.name} moved from rival v0 of {name_of(viewer, first)} to main v2: it beat the champion"
    assert own == f"{key.name} moved from main v2 to rival v0: another one of its own"
    assert events[0].payload["from_trial_id"] == first.trial_id


def test_a_gate_names_the_trial_of_a_champion_that_is_of_another_one(
    api: Served, viewer: httpx.Client, pair: tuple[ReadableLeague, ReadableLeague, AliasKey]
) -> None:
    first, second, _ = pair
    with api.sessions.begin() as session:
        gate = session.get_one(Gate, first.gate_id)
        home = GateOpened(**gate_payload(session, gate)).text
        gate.champion_version_id = second.league.version_of("rival").id
        away = GateOpened(**gate_payload(session, gate)).text
        session.rollback()
    assert home.endswith("opened against rival v0")
    assert away.endswith(f"opened against rival v0 of {name_of(viewer, second)}")


def test_a_comparison_says_what_plays_for_each_trial(
    api: Served, viewer: httpx.Client, pair: tuple[ReadableLeague, ReadableLeague, AliasKey]
) -> None:
    first, second, key = pair
    promote(api, key, first, "rival", "its own")
    promote(api, key, second, "main", "it beat the champion")
    query = {"trial": [first.trial_id, second.trial_id]}
    ours, theirs = viewer.get("/api/v1/compare", params=query).json()["trials"]
    held = first.league.version_of("rival").id
    assert (ours["champion_version_id"], ours["champion_is"]) == (held, "former")
    assert theirs["champion_is"] == "champion"
    for each in (ours, theirs):
        assert each["shared_champion_version_id"] == second.league.version_of("main").id
        assert each["shared_champion_trial"] == name_of(viewer, second)


def test_a_trial_tells_how_its_last_gate_ended(
    viewer: httpx.Client, pair: tuple[ReadableLeague, ReadableLeague, AliasKey]
) -> None:
    first, _, _ = pair
    last = overview(viewer, first)["last_gate"]
    assert (last["id"], last["status"]) == (first.gate_id, "passed")
    assert (last["candidate"], last["champion"]) == ("main v2", "rival v0")
