"""A match whose moves were pruned: the API and the page show its result, and say why there is no replay."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import expect
from sqlalchemy import text

from api.schemas.enums import Scope
from lanista.client import Client
from lanista.client.errors import Gone
from tests.e2e.browsing import Watched, open_browser
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.server import Served


@pytest.fixture(scope="module")
def league(api: Served) -> ReadableLeague:
    """Four rating games, the first of them without its moves."""
    league = readable_league(api.sessions)
    prune = text("UPDATE matches SET moves = NULL, moves_pruned_at = now() WHERE id = :id")
    with api.sessions.begin() as session:
        session.execute(prune, {"id": league.match_ids[0]})
    return league


def test_its_result_is_shown_and_its_replay_refused_in_words(viewer: httpx.Client, league: ReadableLeague) -> None:
    pruned, kept = league.match_ids[:2]
    listed = viewer.get(f"/api/v1/trials/{league.trial_id}/matches").json()["items"]
    assert [match["id"] for match in listed if match["moves_pruned_at"]] == [pruned]
    one = viewer.get(f"/api/v1/matches/{pruned}").json()
    assert (one["moves"], one["plies"], one["result"]) == (None, 3, "win")
    begins_in_it = {"version_id": one["version_id"], "start": {"match_id": pruned, "moves": 1}}
    for answer in (viewer.get(f"/api/v1/matches/{pruned}/replay"), viewer.post("/api/v1/play", json=begins_in_it)):
        words = rf"the moves of match {pruned} were pruned on 20\d\d-\d\d-\d\d; its result is kept"
        assert answer.status_code == 410 and re.fullmatch(words, answer.json()["detail"]), answer.text
    assert viewer.get(f"/api/v1/matches/{kept}").json()["moves"] == [4, 0, 8]


def test_it_counts_between_two_versions_but_for_its_opening(viewer: httpx.Client, league: ReadableLeague) -> None:
    main, rival = (league.league.version_of(name).id for name in ("main", "rival"))
    results = viewer.get(f"/api/v1/versions/{main}/against/{rival}").json()
    assert (results["total"]["games"], results["pruned"]) == (4, 1)
    assert sum(seat["games"] for seat in results["seats"]) == 4
    assert [opening["games"] for opening in results["openings"]] == [3]


def test_the_client_says_that_it_is_gone(api: Served, league: ReadableLeague) -> None:
    with Client(api.base, token=api.tokens[Scope.VIEWER]) as client:
        assert client.match(league.match_ids[0]).moves is None
        with pytest.raises(Gone, match="its result is kept"):
            client.replay(league.match_ids[0])


def test_the_page_shows_the_result_and_no_dead_replay(api: Served, league: ReadableLeague) -> None:
    pruned, watched = league.match_ids[0], Watched()
    with open_browser() as browser:
        page = browser.new_context(base_url=api.base).new_page()
        page.goto("/")
        page.get_by_label("Sign in with a token").fill(api.tokens[Scope.VIEWER])
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        watched.follow(page)
        page.goto(f"/trials/{league.trial_id}/matches")
        games = page.get_by_role("table", name="Recorded games")
        expect(games.get_by_text("moves pruned")).to_have_count(1)
        games.get_by_role("link", name=f"#{pruned}", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Game #{pruned}: 3 moves")
        expect(page.get_by_text(": win for ")).to_be_visible()
        expect(page.get_by_text("No replay: the moves were pruned on")).to_contain_text("The result is kept.")
        page.get_by_role("link", name="head to head").click()
        expect(page.get_by_text("because their moves were pruned: 1.")).to_be_visible()
        watched.assert_clean()
