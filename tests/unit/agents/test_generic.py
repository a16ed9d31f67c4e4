"""The built-in agent for games that speak JSON about their own spaces."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.unit.agents.sessions import FakeModel, Session, cast
from workers.gateway.contract import Refused


def sent(session: Session, kind: str, body: Any = None) -> Any:
    reply = session.ask(kind, b"" if body is None else json.dumps(body).encode())
    return json.loads(reply) if reply else None


async def test_a_game_of_one_seat_at_a_time() -> None:
    session = Session("generic", cast(FakeModel("main-3"), FakeModel("rival-1")))
    started = sent(session, "start")
    assert [seat["name"] for seat in started["seats"]] == ["main-3", "rival-1"]
    assert (started["seed"], started["info"]) == (7, {"purpose": "training"})
    assert sent(session, "tick", {"obs": [1, 0, 0], "seat": 0, "legal": [1, 1, 0, 0]}) == {"action": 1}
    assert sent(session, "tick", {"obs": [2, 0, 0], "seat": 1, "rewards": [0.5, 0]}) == {"action": 2}
    assert sent(session, "end", {"returns": [1, -1], "metrics": {"length": 2}}) is None
    (result,) = session.director.results
    assert result.returns.tolist() == [1, -1] and result.metrics == {"length": 2.0}
    assert session.director.episodes[0].columns["reward"].tolist() == [0.5]


async def test_a_game_of_simultaneous_moves() -> None:
    session = Session("generic", cast(learning=(0, 1)))
    sent(session, "start")
    rows = {"0": {"obs": [1, 0, 0]}, "1": {"obs": [2, 0, 0]}}
    assert sent(session, "tick", {"seats": rows}) == {"actions": {"0": 1, "1": 2}}
    sent(session, "end", {"rewards": {"0": 1, "1": -1}, "truncated": True, "final": rows})
    assert session.director.results[0].truncated
    assert [episode.final is not None for episode in session.director.episodes] == [True, True]


async def test_the_game_says_who_played_its_seats() -> None:
    session = Session("generic", cast(FakeModel(), None))
    assert sent(session, "start")["seats"][1]["outside"]
    sent(session, "end", {"returns": [0, 0], "played_by": {"1": "anna"}})
    assert session.director.results[0].outside == {1: "anna"}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"observation": [1]}, "a tick has no field observation"),
        ({}, "the field obs is missing"),
        ([1, 2], "the body of a tick is a list; allowed: an object"),
        ({"obs": [1, 2], "seat": 0}, "the observation has shape (2,)"),
        ({"obs": [1, 0, 0]}, "say which seat"),
        ({"obs": [1, 0, 0], "seat": "first"}, "there is no seat 'first'"),
        ({"seats": {"a": {"obs": [1, 0, 0]}}}, "seats are named a; allowed: their numbers"),
        ({"seats": [1]}, "has no attribute"),
        ({"seats": {"0": 3}}, "not iterable"),
        ({"obs": [1, 0, 0], "seat": 0, "legal": [[1], [2, 3]]}, "the mask of legal actions cannot be read"),
        ({"obs": [1, 0, 0], "seat": 0, "reward": None}, "a reward is None; allowed: a number"),
    ],
)
async def test_wrong_ticks_are_refused_and_the_session_goes_on(body: Any, words: str) -> None:
    session = Session("generic")
    sent(session, "start")
    refusal = session.refused("tick", json.dumps(body).encode())
    assert refusal.status == 400 and words in refusal.text
    assert sent(session, "tick", {"obs": [3, 0, 0], "seat": 0}) == {"action": 3}


async def test_what_is_sent_again_is_not_counted_twice() -> None:
    session = Session("generic")
    sent(session, "start")
    sent(session, "tick", {"obs": [1, 0, 0], "seat": 0})
    wrong = {"obs": [1, 0], "seat": 0, "reward": 1, "metrics": {"m": 1}}
    assert session.refused("tick", json.dumps(wrong).encode()).status == 400
    assert session.refused("tick", json.dumps({**wrong, "obs": [1, 0, 0], "rewards": [1, "x"]}).encode()).status == 400
    sent(session, "tick", {**wrong, "obs": [1, 0, 0]})
    assert session.refused("end", json.dumps({"rewards": [5, None]}).encode()).status == 400
    sent(session, "end", {"rewards": [2, 0]})
    assert session.director.episodes[0].columns["reward"].tolist() == [1.0, 2.0]


def anything(rng: random.Random, depth: int = 3) -> Any:
    """A random JSON value, often nearly right."""
    kind = rng.randrange(11 if depth else 8)
    if kind < 8:
        return rng.choice([None, True, 0, 1, -1, 7, 1.5, 1e308, 2**63, "", "x", "0", [], {}, [1, 0, 0], [1, 1, 1, 1]])
    if kind == 8:
        return [anything(rng, depth - 1) for _ in range(rng.randrange(5))]
    names = ["obs", "legal", "seat", "seats", "reward", "rewards", "metrics", "returns", "truncated", "final", "0", "1"]
    return {rng.choice(names): anything(rng, depth - 1) for _ in range(rng.randrange(4))}


async def test_no_body_fails_the_agent() -> None:
    rng = random.Random(5)
    session = Session("generic", cast(purpose="serving"))
    sent(session, "start")
    for number in range(3000):
        body = anything(rng)
        if number % 2:
            body = {"obs": [1, 0, 0], "seat": rng.choice([0, 1]), rng.choice(["legal", "reward", "rewards"]): body}
        (reply,) = session.send("tick", json.dumps(body).encode())
        assert not isinstance(reply, Refused) or reply.status == 400, (body, reply.text)
    for _ in range(3000):
        body = anything(rng)
        (reply,) = session.send("end", json.dumps(body).encode())
        assert not isinstance(reply, Refused) or reply.status in (400, 409), (body, reply.text)
        if session.runner.over:
            session = Session("generic", cast(purpose="serving"))
            sent(session, "start")
