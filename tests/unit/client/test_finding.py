"""Names are found where ids are asked for; a wrong one is answered with those that exist."""

from __future__ import annotations

import httpx
import pytest

from lanista.client.errors import NoSuchName
from tests.unit.client.fake_api import WHEN, Caller, FakeApi, a_player, a_trial, a_version, an_id, page


def registry(request: httpx.Request) -> httpx.Response:
    """Three trials, two of one name in two projects; a player with versions 0 to 2, on two pages."""
    trials = [a_trial(1, name="first"), a_trial(2, name="twice"), a_trial(3, name="twice", project="other")]
    path, query = request.url.path.removeprefix("/api/v1/"), request.url.params
    if path == "trials":
        assert query.get("archived") == "true" or "name" not in query, "archived trials are found too"
        wanted = [trial for trial in trials if query.get("name") in (None, trial["name"])]
        return page(*(trial for trial in wanted if query.get("project") in (None, trial["project"])))
    if path.endswith("/players"):
        return page(a_player(2, "main"), a_player(3, "random", "bot"))
    if path.endswith("/versions"):
        assert query["player_id"] == an_id(2)
        if query.get("cursor") == "more":
            return page(a_version(0))
        return page(a_version(2), a_version(1), next_cursor="more")
    if path.startswith("versions/"):
        return httpx.Response(200, json=a_version(int(path[-2:])))
    if path.startswith("projects/"):
        assert query.get("game") in (None, "my_game:Nim")
        alias = {"name": "champion", "game": "g", "version_id": an_id(201), "revision": 1, "moved_at": WHEN}
        return httpx.Response(200, json=alias)
    return httpx.Response(200, json=trials[int(path[-1]) - 1])


@pytest.mark.parametrize(
    ("reference", "number"), [("first", 1), ("games/first", 1), ("other/twice", 3), ("games/twice", 2), (an_id(2), 2)]
)
def test_a_trial_is_found(caller: Caller, reference: str, number: int) -> None:
    assert caller.call(FakeApi(registry), lambda client: client.find_trial(reference)).id == an_id(number)


def test_a_name_of_several_trials_is_not_guessed(caller: Caller) -> None:
    with pytest.raises(NoSuchName, match="games/twice, other/twice"):
        caller.call(FakeApi(registry), lambda client: client.find_trial("twice"))


def test_an_unknown_trial_is_answered_with_those_there_are(caller: Caller) -> None:
    with pytest.raises(NoSuchName, match=r"'frist', did you mean 'games/first'\?; the newest are: games/first"):
        caller.call(FakeApi(registry), lambda client: client.find_trial("frist"))


def test_a_player_is_found_by_name_or_id(caller: Caller) -> None:
    for reference in ("random", an_id(3)):
        found = caller.call(FakeApi(registry), lambda client, wanted=reference: client.find_player(an_id(1), wanted))
        assert found.name == "random"
    with pytest.raises(NoSuchName, match=r"no player 'mian', did you mean 'main'\?; it has: main, random"):
        caller.call(FakeApi(registry), lambda client: client.find_player(an_id(1), "mian"))
    with pytest.raises(NoSuchName, match="'nobody'; it has: main, random"):
        caller.call(FakeApi(registry), lambda client: client.find_player(an_id(1), "nobody"))


@pytest.mark.parametrize(
    ("reference", "number"),
    [
        ("first/main:0", 0),
        ("games/first/main:2", 2),
        ("first/main", 2),
        ("games@champion", 1),
        ("games@champion:my_game:Nim", 1),
        (an_id(201), 1),
    ],
)
def test_a_version_is_found(caller: Caller, reference: str, number: int) -> None:
    assert caller.call(FakeApi(registry), lambda client: client.find_version(reference)).number == number


@pytest.mark.parametrize("reference", ["main:1", "first/main:x", "/main:1", "first/:1", ""])
def test_what_names_no_version_is_told_how_to_write_one(caller: Caller, reference: str) -> None:
    with pytest.raises(NoSuchName, match="project/trial/player:number"):
        caller.call(FakeApi(registry), lambda client: client.find_version(reference))


def test_a_number_that_does_not_exist_is_answered_with_the_newest(caller: Caller) -> None:
    with pytest.raises(NoSuchName, match="no version 7; the newest is 2"):
        caller.call(FakeApi(registry), lambda client: client.find_version("first/main:7"))
