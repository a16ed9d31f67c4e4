"""What a trial says of its end, of trouble, and of the champion that it shares with other trials of its project."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.leagues import QUICK, League, start
from tests.e2e.stack import LocalStack

IN_FIVE_DAYS = re.compile("in about (5 d 0|4 d 23) h")
ENDS = """async () => {
  const { budgetUsed, endText } = await import("/static/core/trial_end.js");
  const now = Date.parse("2030-01-01T12:38:00Z");
  const trial = { status: "running", steps: 1000, budget_steps: null, budget_seconds: 3000, budget_until: null,
    seconds_run: 480, running_since: "2030-01-01T12:08:00Z" };
  const until = { opponent: "random", win_rate: 0.9 };
  const told = (changes, left) => {
    const { value, more } = endText({ ...trial, ...changes }, left === undefined ? null : { seconds_left: left }, now);
    return `${value}; ${more.replace(/at \\d\\d:\\d\\d /, "at HH:MM ")}`;
  };
  return [
    told({}),
    told({ budget_steps: 4000 }, 60),
    told({ budget_steps: 4000 }, 5000),
    told({ budget_until: until }),
    told({ budget_seconds: null, budget_until: until }),
    told({ status: "paused", running_since: null }),
    told({ seconds_run: 3000 }),
    budgetUsed(trial, now), budgetUsed({ ...trial, budget_steps: 1100 }, now),
  ];
}"""


def test_the_end_of_a_trial_is_its_first_limit(page: Page) -> None:
    page.goto("/trials")
    assert page.evaluate(ENDS) == [
        "in about 12 min; at HH:MM (time limit 50 min)",
        "in about 1 min; at HH:MM (budget of steps, at this speed)",
        "in about 12 min; at HH:MM (time limit 50 min)",
        "in about 12 min; at HH:MM (time limit 50 min), or at 90 % against random",
        "at 90 % against random; no other limit",
        "–; the trial is paused; 42 min of its time limit 50 min are left",
        "now; time limit 50 min reached",
        pytest.approx(0.76),
        pytest.approx(1000 / 1100),
    ]


SPEEDS = """async () => {
  const { standing } = await import("/static/components/trial_facts.js");
  const trial = { status: "completed", steps: 36000, seconds_run: 1800,
    started_at: "2030-01-01T12:00:00Z", finished_at: "2030-01-01T14:00:00Z" };
  const told = (changes) => standing({ trial: { ...trial, ...changes }, overview: {}, players: [], ratings: [] })
    .flat().map((each) => each?.textContent ?? "").join(" ").match(/Average speed([^A-Z]*)/)[1];
  return [told({}), told({ seconds_run: 7200 }), told({ seconds_run: 0 })];
}"""


def test_the_average_speed_leaves_out_pauses(page: Page) -> None:
    page.goto("/trials")
    assert page.evaluate(SPEEDS) == ["20 steps/s, without pauses", "5 steps/s", "5 steps/s"]


def test_the_list_tells_the_end_of_a_trial_with_a_time_limit(page: Page, league: League) -> None:
    """The answers are real ones with a time limit put in, for a trial that has none."""

    def limited(route: Route) -> None:
        found = route.fetch().json()
        for trial in found["items"]:
            trial |= {"status": "running", "finished_at": None, "budget_steps": None}
            trial |= {"budget_seconds": 864_000, "seconds_run": 432_000, "running_since": datetime.now(UTC).isoformat()}
        route.fulfill(json=found)

    page.route(re.compile("/api/v1/trials[?]"), limited)
    page.goto("/trials")
    card = page.locator(".trials > li").first
    expect(card).to_contain_text(IN_FIVE_DAYS)
    expect(card).to_contain_text("(time limit 10 d 0 h)")
    expect(card.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "50")
    page.goto("/trials?view=table")
    row = page.locator(".trial-table tbody tr").first
    expect(row).to_contain_text("50 %")
    expect(row).to_contain_text(IN_FIVE_DAYS)


def test_a_trial_shows_the_champion_of_another_one_with_its_trial_and_its_gate(
    page: Page, league: League, stack: LocalStack
) -> None:
    """A trial that has made nothing yet shares the champion of its project and game."""
    history = stack.call("GET", f"/projects/{league.project}/aliases/champion/history?game=tic_tac_toe")["items"]
    move = next(each for each in history if each["gate_id"])
    winner = stack.call("GET", f"/gates/{move['gate_id']}")["trial_id"]
    name = stack.call("GET", f"/trials/{winner}")["name"]
    bystander = start(stack, {**QUICK, "start": "paused"}, project=league.project)
    page.goto(f"/trials/{bystander}")
    tile = page.get_by_role("list", name="Now").locator("li").first
    champion = stack.call("GET", f"/trials/{bystander}/overview")["champion"]
    expect(tile.get_by_role("link", name=champion["trial"], exact=True)).to_have_attribute(
        "href", f"/trials/{champion['trial_id']}"
    )
    page.goto(f"/trials/{bystander}/promotions?gate={move['gate_id']}")
    expect(page.get_by_role("status").filter(has_text=f"not of this trial but of {name}")).to_be_visible()
    gate = page.locator(f"a[href='/trials/{winner}/promotions?gate={move['gate_id']}']").first
    expect(page.get_by_role("row").filter(has=gate)).to_contain_text(f"gate of {name}")
    gate.click()
    expect(page.get_by_role("region", name="Evidence")).to_be_visible()
    expect(page.get_by_text("not of this trial")).to_have_count(0)
