"""A comparison on the page whose champions really play each other."""

from __future__ import annotations

import re
import uuid

from playwright.sync_api import Page, expect

from tests.e2e.browsing import serious_problems
from tests.e2e.leagues import TRAINED, League, finished, start, wait_until
from tests.e2e.stack import LocalStack


def test_a_fork_beside_its_parent_and_champions_that_play_each_other(
    page: Page, league: League, stack: LocalStack
) -> None:
    other = start(stack, {**TRAINED, "seed": 4})
    body = {"name": f"rival-{uuid.uuid4().hex[:8]}", "changes": {"start": "paused", "algorithm": {"entropy": 0.03}}}
    fork = stack.call("POST", f"/trials/{league.trial}/fork", body)["id"]
    page.goto(f"/compare?trials={league.trial},{fork}")
    expect(page.get_by_role("region", name="Trials").first).to_contain_text("fork of")
    for chart in ("compare-rating", "compare-metric"):
        expect(page.locator(f"[data-keep='{chart}']")).to_have_attribute("data-drawn", "yes")
    wait_until(lambda: finished(stack, other))
    page.goto(f"/compare?trials={league.trial},{other}")
    games = page.get_by_role("region", name="Champions against each other").first
    expect(games).to_contain_text("have not met")
    games.get_by_label("Games of each two").fill("2")
    games.get_by_role("button", name="Let the champions play").click()
    expect(page).to_have_url(re.compile("tournament="))
    expect(games.get_by_role("link", name="by seat and opening")).to_be_visible(timeout=180_000)
    expect(games.get_by_role("link", name="Tournament compare")).to_be_visible()
    assert serious_problems(page) == []
