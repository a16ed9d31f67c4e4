"""A whole league in one call, and its tables as frames."""

from __future__ import annotations

import builtins
from typing import Any

import httpx
import pytest

from lanista.client import League
from tests.unit.client.fake_api import Caller, FakeApi, a_league, a_rating, a_trial, an_id, page


@pytest.fixture
def league(caller: Caller) -> League:
    found: League = caller.call(FakeApi(a_league()), lambda client: client.league(an_id(1)))
    return found


def test_a_league_knows_ratings_and_names(league: League) -> None:
    main, random, snapshot = league.players
    assert [player.name for player in league.players] == ["main", "random", "main-1"]
    rating = league.rating_of(main)
    assert rating is not None and rating.value == 120
    assert league.rating_of(snapshot) is None
    assert league.aliases_of(snapshot) == ["champion"] and league.aliases_of(random) == []
    assert league.payoff.games(0, 1) == 5 and league.payoff.games(0, 2) == 0


def test_a_league_as_a_frame_has_a_row_for_each_player(league: League) -> None:
    frame = league.to_frame()
    assert list(frame.index) == ["main", "random", "main-1"]
    assert frame.loc["main", "rating"] == 120 and frame.loc["main", "games"] == 40
    assert frame.loc["main-1", "aliases"] == "champion" and frame["rating"].isna()["main-1"]
    assert frame.loc["random", "role"] == "bot"


def test_the_payoff_as_a_frame_is_numbers_with_gaps(league: League) -> None:
    rates, wins = league.payoff.to_frame(), league.payoff.to_frame("wins")
    assert rates.loc["main", "random"] == 0.7 and rates.isna().loc["main", "main-1"]
    assert {str(kind) for kind in rates.dtypes} == {"float64"}
    assert wins.loc["random", "main"] == 1 and {str(kind) for kind in wins.dtypes} == {"int64"}


def test_ratings_as_a_frame(league: League) -> None:
    frame = league.ratings.to_frame()
    assert list(frame["player"]) == ["main", "random"] and list(frame["value"]) == [120, 0]


def test_without_pandas_one_is_told_what_to_install(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install pandas"):
        league.to_frame()


def test_ratings_come_whole_or_as_many_as_wanted(caller: Caller) -> None:
    def many(request: httpx.Request) -> httpx.Response:
        start, size = int(request.url.params.get("cursor", 0)), int(request.url.params["limit"])
        items = [a_rating(number, f"p{number}", 0.0) for number in range(start, min(start + size, 1200))]
        following = str(start + size) if start + size < 1200 else None
        return httpx.Response(200, json={"fit": None, "items": items, "next_cursor": following})

    whole = caller.call(FakeApi(many), lambda client: client.ratings(an_id(1)))
    assert [item.player for item in whole.items] == [f"p{number}" for number in range(1200)]
    some = FakeApi(many)
    assert len(caller.call(some, lambda client: client.ratings(an_id(1), limit=7)).items) == 7
    assert len(some.requests) == 1


def test_metrics_as_a_frame_have_a_row_for_each_value(caller: Caller) -> None:
    loss = {"player_id": an_id(1), "player": "main", "name": "loss", "generations": [1, 2], "steps": [8, 16]}
    reply = page({**loss, "values": [0.5, None]}, {**loss, "name": "entropy", "values": [1.0, 0.9]})

    frame = caller.call(FakeApi(reply), lambda client: client.metrics(an_id(1)).to_frame())
    assert list(frame.columns) == ["player", "name", "generation", "steps", "value"]
    assert list(frame["value"].fillna(-1)) == [0.5, -1, 1.0, 0.9] and list(frame["generation"]) == [1, 2, 1, 2]


def test_lists_are_frames_too(caller: Caller) -> None:
    frame = caller.call(FakeApi(page(a_trial(1), a_trial(2))), lambda client: client.trials().to_frame())
    assert list(frame["name"]) == ["trial-1", "trial-2"] and "status" in frame.columns
