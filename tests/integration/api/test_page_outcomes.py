"""What the page says about how things ended: problems, retired players, gates, and the rating gained."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from sqlalchemy import insert, update

from api.schemas.enums import GateStatus, PlayerStatus, Scope
from api.store.tables import Decision, Event, Gate, Player
from league.types import DecisionKind
from tests.e2e.browsing import Watched, open_browser, serious_problems
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.server import Served
from tests.integration.api.test_page_trials import signed_in

WHY = "the checkpoint of main is damaged and a frozen player has no other"
GAIN = {"player": "main", "player_id": None, "from_steps": 1000, "to_steps": 2000, "per_million_steps": 12.0}
OPEN_GATE = {
    "id": "00000000-0000-7000-8000-000000000001",
    "candidate": "main v9",
    "champion": "main v2",
    "champion_trial": None,
    "status": "running",
    "pairs": 10,
    "max_pairs": 100,
    "llr": 0.5,
    "lower_bound": -2.94,
    "upper_bound": 2.94,
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def as_viewer(api: Served, browser: Browser) -> Iterator[BrowserContext]:
    with signed_in(api, browser, Scope.VIEWER) as context:
        yield context


@pytest.fixture
def page(as_viewer: BrowserContext) -> Iterator[Page]:
    """A page that must not have complained by the end of the test."""
    watched = Watched()
    opened = as_viewer.new_page()
    watched.follow(opened)
    yield opened
    opened.close()
    assert watched.complaints == []


@pytest.fixture(scope="module")
def league(api: Served) -> ReadableLeague:
    """Main was retired for its damaged checkpoint, and its candidate was refused."""
    readable = readable_league(api.sessions)
    newest = readable.league.version_of("main")
    about = {"player_id": newest.player_id, "player": "main", "reason": WHY}
    damaged = {**about, "verdict": "retired", "version_id": newest.id, "problem": "the file is cut short"}
    with api.sessions.begin() as session:
        for kind, payload in (("player.retired", about), ("checkpoint.damaged", damaged)):
            session.execute(insert(Event).values(trial_id=readable.trial_id, type=kind, payload=payload))
        player = session.get_one(Player, newest.player_id)
        player.status, player.retired_at = PlayerStatus.RETIRED, datetime.now(UTC)
        session.add(
            Decision(
                trial_id=readable.trial_id,
                player_id=newest.player_id,
                version_id=newest.id,
                kind=DecisionKind.ROLLBACK,
                verdict="retired",
                reason=WHY,
                evidence={"sha256": newest.sha256, "problem": "the file is cut short"},
            )
        )
        refused = {"status": GateStatus.FAILED, "status_reason": "the gate failed: LLR -2.97 reached -2.94"}
        session.execute(update(Gate).where(Gate.id == readable.gate_id).values(**refused))
    return readable


def test_a_problem_is_lost_for_good_where_its_player_was_retired(page: Page, league: ReadableLeague) -> None:
    page.goto(f"/trials/{league.trial_id}/problems")
    row = page.get_by_role("region", name="Problems, newest first").locator("tbody tr")
    expect(row).to_contain_text("Lost for good: player retired")
    expect(row.locator("td").nth(4)).to_have_text("–")
    expect(page.get_by_role("main")).to_contain_text("1 problem: 1 lost for good.")
    expect(page.get_by_role("main")).not_to_contain_text("made again")
    assert serious_problems(page) == []


def test_a_player_retired_for_damage_says_why_and_cannot_be_played(page: Page, league: ReadableLeague) -> None:
    newest = league.league.version_of("main")
    page.goto(f"/players/{newest.player_id}")
    expect(page.get_by_role("region", name="Player", exact=True)).to_contain_text(WHY)
    expect(page.get_by_role("link", name="Play against it")).to_have_count(0)
    page.goto(f"/versions/{newest.id}")
    expect(page.get_by_role("main")).to_contain_text("checkpoint damaged")
    expect(page.get_by_role("link", name="Play against it")).to_have_count(0)
    page.goto(f"/players/{league.league.players['rival']}")
    expect(page.get_by_role("link", name="Play against it")).to_be_visible()


def test_a_gate_is_refused_in_one_word_everywhere(page: Page, league: ReadableLeague) -> None:
    page.goto(f"/trials/{league.trial_id}/promotions")
    row = page.get_by_role("region", name="Gates").locator("tbody tr")
    expect(row).to_contain_text("refused: LLR −2.97 reached −2.94")
    expect(row.locator(".badge")).to_have_text("refused")
    expect(page.get_by_role("main")).not_to_contain_text(re.compile("failed"))


TILES = """async (overview) => {
  const { nowRow } = await import("/static/components/now_row.js");
  const { patchChildren } = await import("/static/core/dom.js");
  const trial = { id: "t", project: "p", status: "running" };
  const nothing = { champion: null, gain: null, gates: [], tournaments: [], problems_last_hour: 0 };
  patchChildren(document.getElementById("main"), [nowRow({ trial, overview: { ...nothing, ...overview } }, null)]);
}"""


def tile(page: Page, place: int, **overview: Any) -> Locator:
    """A tile of the row, with what the API may say."""
    page.goto("/schedules")
    expect(page.locator("h1")).to_be_visible()
    page.evaluate(TILES, overview)
    return page.get_by_role("list", name="Now").locator("li").nth(place)


def test_a_gain_whose_interval_includes_zero_is_no_certain_change(page: Page) -> None:
    gain = tile(page, 1, gain={**GAIN, "low": -3.0, "high": 27.0})
    expect(gain.locator("strong")).to_have_text("no certain change")
    expect(gain.locator("small")).to_contain_text("+12 Elo per million steps. 95 %: −3 to +27")
    gain = tile(page, 1, gain={**GAIN, "low": 3.0, "high": 27.0})
    expect(gain.locator("strong")).to_have_text("+12 Elo per million steps")
    expect(gain.locator("small")).to_contain_text("it improves")


def test_the_last_decision_stays_while_a_gate_runs(page: Page) -> None:
    last = {
        "id": "g",
        "candidate": "main v2",
        "champion": "main v1",
        "status": "failed",
        "reason": "the gate failed: x",
    }
    gate = tile(page, 2, gates=[OPEN_GATE], last_gate={**last, "at": datetime.now(UTC).isoformat()})
    expect(gate.locator("strong")).to_have_text("main v9 against main v2")
    expect(gate.locator("small").last).to_have_text(re.compile(r"^Last: main v2 was refused \d+ s ago$"))
    shown, needed = gate.evaluate("tile => [tile.clientHeight, tile.scrollHeight]")
    assert needed <= shown, "nothing of the tile is cut"
