"""Replays and games of people: the API asks, a worker answers; here a stand-in with rules of its own."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from sqlalchemy import func, update
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from api.store.core.errors import Conflict
from api.store.core.ids import new_id
from api.store.matches.people_games import continue_people_game, delete_expired_people_games
from api.store.tables import PeopleGame, Tournament, Trial
from api.web.temporal import ask_worker as asking
from orchestrator.contracts.interactive import MoveAnswer, Question
from orchestrator.storage import parts
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.server import PLAIN, Served, running_api
from tests.integration.api.stand_ins import position, weights_file


@pytest.fixture(scope="module")
def readable(api: Served) -> ReadableLeague:
    return readable_league(api.sessions)


def test_a_game_is_seen_again_move_by_move(viewer: httpx.Client, readable: ReadableLeague) -> None:
    path = f"/api/v1/matches/{readable.match_ids[0]}/replay"
    replay = viewer.get(path, params={"seat": 1}).json()
    assert replay["notation"] == "tic_tac_toe seat 1: [4, 0, 8]"
    assert [shown["ply"] for shown in replay["positions"]] == [0, 1, 2, 3]
    assert replay["match"]["player"] == "main"
    assert replay["next"] is None
    part = viewer.get(path, params={"first": 1}).json()
    assert [shown["ply"] for shown in part["positions"]] == [1, 2] and part["next"] == 3
    assert viewer.get(path, params={"annotate": new_id()}).status_code == 404
    assert viewer.get("/api/v1/matches/0/replay").status_code == 404


def test_two_versions_have_named_openings_by_seat(viewer: httpx.Client, readable: ReadableLeague) -> None:
    match = viewer.get(f"/api/v1/matches/{readable.match_ids[0]}").json()
    path = f"/api/v1/versions/{match['version_id']}/against/{match['opponent_version_id']}"
    openings = viewer.get(path).json()["openings"]
    for each in openings:
        assert each["games"] == sum(seat["games"] for seat in each["seats"]) > 0
        assert all(seat["low"] <= seat["win_rate"] <= seat["high"] for seat in each["seats"])
    named = viewer.get(f"{path}/openings").json()["items"]
    assert [each["opening"] for each in named] == [each["opening"] for each in openings]
    assert all(each["names"] == [f"move {action}" for action in each["opening"]] for each in named)
    assert viewer.get(f"/api/v1/versions/{new_id()}/against/{match['version_id']}/openings").status_code == 404


def test_a_person_plays_and_no_move_is_made_twice(
    viewer: httpx.Client, operator: httpx.Client, readable: ReadableLeague
) -> None:
    key = {"Idempotency-Key": new_id()}
    new = {"version_id": readable.league.version_of("main").id, "seat": 1}
    game = viewer.post("/api/v1/play", json=new, headers=key)
    assert game.status_code == 201 and game.json()["answered"] == [0], "the opponent has the first seat"
    assert viewer.post("/api/v1/play", json=new, headers=key).json()["id"] == game.json()["id"]
    path = f"/api/v1/play/{game.json()['id']}"
    refused = viewer.post(f"{path}/moves", json={"action": 5})
    assert refused.status_code == 409 and "not legal" in refused.json()["detail"]
    for body in ({}, {"action": 1, "numbers": [1]}):
        neither = viewer.post(f"{path}/moves", json=body)
        assert neither.status_code == 422 and "give either action or numbers" in neither.json()["detail"]
    once = {"Idempotency-Key": new_id()}
    moved = [viewer.post(f"{path}/moves", json={"action": 1}, headers=once).json() for _ in range(2)]
    assert moved[0] == moved[1] and moved[0]["moves"] == [0, 1, 2]
    assert viewer.get(path).json()["moves"] == [0, 1, 2]
    assert operator.get(path).status_code == 404, "another person's game"
    viewer.post(f"{path}/moves", json={"action": 3})
    over = viewer.post(f"{path}/moves", json={"action": 5}).json()
    assert over["result"] == "draw" and game.json()["result"] is None
    late = viewer.post(f"{path}/moves", json={"action": 7})
    assert late.status_code == 409 and "over" in late.json()["detail"]


def test_a_version_searches_in_a_persons_game_to_its_end(viewer: httpx.Client, readable: ReadableLeague) -> None:
    new = {"version_id": readable.league.version_of("main").id, "seat": 1, "search": 64}
    game = viewer.post("/api/v1/play", json=new).json()
    assert game["search"] == 64
    path = f"/api/v1/play/{game['id']}"
    assert viewer.post(f"{path}/moves", json={"action": 1}).json()["search"] == 64, "each request asks for it again"
    assert viewer.post("/api/v1/play", json={**new, "search": 0}).status_code == 422
    bot = viewer.post("/api/v1/play", json={**new, "version_id": readable.league.version_of("random").id})
    assert bot.status_code == 409 and "only versions search" in bot.json()["detail"]
    replay = f"/api/v1/matches/{readable.match_ids[0]}/replay"
    alone = viewer.get(replay, params={"search": 64})
    assert alone.status_code == 409 and "annotate" in alone.json()["detail"]
    assert viewer.get(replay, params={"search": 64, "annotate": new["version_id"]}).status_code == 200


def test_a_game_goes_on_with_another_api_process(
    api: Served, api_database: str, artifacts: Path, viewer: httpx.Client, readable: ReadableLeague
) -> None:
    new = {"version_id": readable.league.version_of("main").id, "seat": 1}
    begun = viewer.post("/api/v1/play", json=new)
    path = begun.headers["location"]
    viewer.post(f"{path}/moves", json={"action": 1})
    with api.sessions.begin() as session:  # rows alone: an API that starts must not give them workflows
        for table in (Trial, Tournament):
            session.execute(
                update(table).where(table.workflow_started_at.is_(None)).values(workflow_started_at=func.now())
            )
    with running_api(api_database, api.temporal_address, artifacts) as second:
        headers = {"Authorization": viewer.headers["Authorization"]}
        with httpx.Client(base_url=second.base, headers=headers, **PLAIN) as other:
            assert other.get(path).json()["moves"] == [0, 1, 2]
            once = {"Idempotency-Key": new_id()}
            moved = other.post(f"{path}/moves", json={"action": 3}, headers=once)
            assert moved.json()["moves"] == [0, 1, 2, 3, 4]
            repeated = viewer.post(f"{path}/moves", json={"action": 3}, headers=once)
            assert repeated.json() == moved.json(), "the first process knows what the second answered"


def test_of_two_moves_at_once_one_is_made(api: Served, viewer: httpx.Client, readable: ReadableLeague) -> None:
    begun = viewer.post("/api/v1/play", json={"version_id": readable.league.version_of("main").id}).json()
    answer = MoveAnswer(moves=[0, 1], position=position(2), answered=[1])
    with api.sessions.begin() as session:
        token = session.get_one(PeopleGame, begun["id"]).token_id
        continue_people_game(session, begun["id"], token, turn=0, answer=answer)
    with api.sessions.begin() as session, pytest.raises(Conflict, match="another move"):
        continue_people_game(session, begun["id"], token, turn=0, answer=answer)
    assert viewer.get(f"/api/v1/play/{begun['id']}").json()["moves"] == [0, 1]


def test_games_that_nobody_goes_on_with_are_forgotten(
    api: Served, viewer: httpx.Client, readable: ReadableLeague
) -> None:
    new = {"version_id": readable.league.version_of("main").id}
    old, fresh = (viewer.post("/api/v1/play", json=new).json()["id"] for _ in range(2))
    with api.sessions.begin() as session:
        session.get_one(PeopleGame, old).touched_at = datetime.now(UTC) - timedelta(days=2)
    with api.sessions.begin() as session:
        delete_expired_people_games(session)
    gone = viewer.get(f"/api/v1/play/{old}")
    assert viewer.get(f"/api/v1/play/{old}/replay").status_code == 404
    assert gone.status_code == 404 and "24 hours" in gone.json()["detail"]
    assert viewer.get(f"/api/v1/play/{fresh}").status_code == 200


def finished_game(client: httpx.Client, version: str, **new: object) -> str:
    """A game of counting, played to its end in the second seat."""
    game = client.post("/api/v1/play", json={"version_id": version, "seat": 1, **new}).json()
    while not game["position"]["done"]:
        game = client.post(f"/api/v1/play/{game['id']}/moves", json={"action": len(game["moves"])}).json()
    return str(game["id"])


def test_finished_games_of_people_are_kept_apart_from_matches(
    api: Served, viewer: httpx.Client, operator: httpx.Client, readable: ReadableLeague
) -> None:
    version, trial = readable.league.version_of("main").id, readable.league.trial_id
    matches = viewer.get(f"/api/v1/trials/{trial}/matches").json()["items"]
    payoff = viewer.get(f"/api/v1/trials/{trial}/payoff").json()
    before = viewer.get(f"/api/v1/trials/{trial}/people-games/counts").json()
    mine, theirs = finished_game(viewer, version), finished_game(operator, version)
    with api.sessions.begin() as session:
        for game in (mine, theirs):
            session.get_one(PeopleGame, game).touched_at = datetime.now(UTC) - timedelta(days=400)
        session.flush()
        delete_expired_people_games(session)
    shown = viewer.get(f"/api/v1/trials/{trial}/people-games", params={"version_id": version}).json()
    assert [(each["id"], each["mine"]) for each in shown["items"][:2]] == [(theirs, False), (mine, True)]
    assert {name: shown["items"][0][name] for name in ("player", "seat", "result", "plies", "start")} == {
        "player": "main",
        "seat": 1,
        "result": "draw",
        "plies": 7,
        "start": None,
    }
    after = viewer.get(f"/api/v1/trials/{trial}/people-games/counts").json()
    assert after == {**before, "draws": before["draws"] + 2} and after["wins"] == 0
    first = viewer.get(f"/api/v1/trials/{trial}/people-games", params={"limit": 1}).json()
    second = viewer.get(
        f"/api/v1/trials/{trial}/people-games", params={"limit": 1, "cursor": first["next_cursor"]}
    ).json()
    assert [first["items"][0]["id"], second["items"][0]["id"]] == [theirs, mine]
    replay = viewer.get(f"/api/v1/play/{theirs}/replay").json()
    assert len(replay["positions"]) == 8 and replay["game"]["id"] == theirs and not replay["game"]["mine"]
    assert viewer.get(f"/api/v1/trials/{trial}/matches").json()["items"] == matches
    assert viewer.get(f"/api/v1/trials/{trial}/payoff").json() == payoff


def test_a_game_starts_from_a_recorded_position(viewer: httpx.Client, readable: ReadableLeague) -> None:
    version, match = readable.league.version_of("main").id, readable.match_ids[0]
    recorded = viewer.get(f"/api/v1/matches/{match}").json()["moves"]
    new = {"version_id": version, "seat": 0, "start": {"match_id": match, "moves": 2}}
    game = viewer.post("/api/v1/play", json=new)
    assert game.status_code == 201, game.text
    assert game.json()["moves"] == recorded[:2] and game.json()["start"] == new["start"]
    own = finished_game(viewer, version, start={"match_id": match, "moves": 2})
    again = viewer.post(
        "/api/v1/play", json={"version_id": version, "seat": 0, "start": {"game_id": own, "moves": 4}}
    ).json()
    assert again["moves"] == viewer.get(f"/api/v1/play/{own}").json()["moves"][:4]
    wrong: list[tuple[dict[str, object], int, str]] = [
        ({**new, "seed": 1}, 409, "leave out seed"),
        ({**new, "start": {"match_id": match, "moves": len(recorded)}}, 409, "keep fewer"),
        ({**new, "start": {"moves": 1}}, 422, "either match_id or game_id"),
        ({**new, "start": {"game_id": new_id(), "moves": 1}}, 404, "no finished game"),
    ]
    for body, status, words in wrong:
        refused = viewer.post("/api/v1/play", json=body)
        assert refused.status_code == status and words in refused.json()["detail"], refused.text


async def test_a_question_that_nobody_answers_is_a_problem_and_not_a_hang(
    temporal_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "Queue", SimpleNamespace(INTERACTIVE="a queue without a worker"))
    client = await Client.connect(temporal_address, data_converter=pydantic_data_converter)
    nobody: Question[str, str] = Question(
        name="nobody", message=str, answer=str, time_limit=timedelta(milliseconds=300)
    )
    with pytest.raises(asking.ProblemError) as refused:
        await asyncio.wait_for(asking.ask(client, nobody, "?"), 60)
    assert refused.value.status == 409


async def test_a_long_answer_is_not_waited_for_where_nobody_hears_the_question(
    temporal_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "START_TIMEOUT", timedelta(milliseconds=300))
    monkeypatch.setattr(asking, "Queue", SimpleNamespace(INTERACTIVE="a queue without a worker"))
    client = await Client.connect(temporal_address, data_converter=pydantic_data_converter)
    slow: Question[str, str] = Question(name="slow", message=str, answer=str, time_limit=timedelta(minutes=5))
    with pytest.raises(asking.ProblemError, match="no train worker answers"):
        await asyncio.wait_for(asking.ask(client, slow, "?"), 60)


def test_weights_made_elsewhere_join_a_league(operator: httpx.Client, readable: ReadableLeague) -> None:
    where = {"trial_id": readable.trial_id, "name": "veteran"}
    wrong = operator.post("/api/v1/versions", params=where, content=weights_file("bad"))
    assert wrong.status_code == 409 and "shapes" in wrong.json()["detail"]
    assert operator.post("/api/v1/versions", params=where).status_code == 422
    key = {"Idempotency-Key": new_id()}
    made = operator.post("/api/v1/versions", params=where, content=weights_file("good"), headers=key)
    assert made.status_code == 201 and made.json()["origin"] == "imported", made.text
    again = operator.post("/api/v1/versions", params=where, content=weights_file("good"), headers=key)
    assert again.json()["id"] == made.json()["id"]
    assert operator.post("/api/v1/versions", params=where, content=weights_file("good")).status_code == 409
    players = operator.get(f"/api/v1/trials/{readable.trial_id}/players", params={"role": "historical"}).json()["items"]
    assert [player["name"] for player in players] == ["veteran"]
    sent = operator.get(f"/api/v1/versions/{made.json()['id']}/checkpoint")
    assert sent.content == weights_file("good") and sent.headers["etag"] == f'"{made.json()["sha256"]}"'


def test_a_large_checkpoint_is_sent_in_blocks_and_never_with_a_damaged_one(
    operator: httpx.Client, readable: ReadableLeague, artifacts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "LARGE_BYTES", 2_000)
    monkeypatch.setattr(parts, "PART_BYTES", 1_000)
    data = weights_file("good" * 600)
    made = operator.post(
        "/api/v1/versions", params={"trial_id": readable.trial_id, "name": "giant"}, content=data
    ).json()
    path = f"/api/v1/versions/{made['id']}/checkpoint"
    sent = operator.get(path)
    assert sent.content == data and sent.headers["content-length"] == str(len(data))
    assert sent.headers["etag"] == f'"{made["sha256"]}"'
    first, *_, last = sorted((artifacts / "checkpoints").rglob(f"{made['sha256']}.parts/0*"))
    last.write_bytes(b"damaged")
    with pytest.raises(httpx.RemoteProtocolError, match="body"):
        operator.get(path)
    first.unlink()
    gone = operator.get(path)
    assert gone.status_code == 409 and "missing" in gone.json()["detail"]
