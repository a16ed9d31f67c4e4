"""Details of the page that once misled: order of moves, standings without games, tables wider than a phone."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.leagues import League
from tests.e2e.stack import LocalStack

SIDES = """async (simultaneous) => {
  const { view } = await import("/static/pages/play.js");
  const position = {
    ply: 0, seats: simultaneous ? [0, 1] : [0], actions: [], names: [], legal: [[{ action: 0, name: "rock" }]],
    returns: [0, 0], teams: [0, 1], simultaneous, value: null, numbers: [], done: false, text: "", svg: "<svg/>",
  };
  const game = { id: "g", version_id: "v", seat: 0, moves: [], answered: [], sampled: true, position };
  const version = { id: "v", player: "main", number: 1, sha256: null };
  const trial = { id: "t", name: "t", game: "rock_paper_scissors" };
  const drawn = view({ version, trial, players: [] }, { query: {}, state: { game } });
  return drawn.flat().filter(Boolean).map((each) => each.textContent).join(" ");
}"""
EVENTS = """async () => {
  const pair = await import("/static/pages/head_to_head.js");
  const sweep = await import("/static/pages/sweep.js");
  const played = (trial_id) => pair.onEvent({ type: "pairing.played", trial_id }, { state: { trials: ["T", "U"] } });
  const context = { parameters: { sweep: "S" }, state: { trials: new Set(["T"]) } };
  const heard = (type, trial_id, payload = {}) => sweep.onEvent({ type, trial_id, payload }, context);
  return [
    [played("T"), played("other"), played(null)],
    [heard("generation.recorded", "T"), heard("generation.recorded", "other"),
     heard("sweep.judged", "T", { sweep_id: "S" }), heard("sweep.judged", "T", { sweep_id: "R" })],
  ];
}"""
PENDING = """async () => {
  const { view } = await import("/static/pages/tournament.js");
  const line = (number) => ({
    number, rank: 1, label: `main-${number}`, version_id: "v", points: 0, wins: 0, draws: 0, losses: 0, games: 0,
    byes: 0, elo: 0, low: -963, high: 963, buchholz: 0,
  });
  const tournament = {
    id: "t", name: "swiss", status: "pending", format: "swiss", game: "tic_tac_toe", project: "p", entrants: 2,
    pairings_played: 0, pairings_known: 1, created_at: "2030-01-01T00:00:00Z",
  };
  const nothing = { games: 0, upsets: [], instructive_games: [], cross_table: [], leads: "" };
  const report = { standings: [line(1), line(2)], ...nothing };
  const drawn = view({ tournament, pairings: [], report }, { query: {}, state: {} });
  return drawn.flat().filter(Boolean).map((each) => each.textContent).join(" ");
}"""


def test_the_sentence_about_the_lead_names_entrants_by_links(page: Page, league: League, stack: LocalStack) -> None:
    said = stack.call("GET", f"/tournaments/{league.tournament}/report")["leads"]
    page.goto(f"/tournaments/{league.tournament}")
    lead = page.locator("p.leads")
    shown = re.sub(r"(?<!\w)-(?=\d)", "−", said)
    expect(lead).to_have_text(f"{shown}.")  # a name is written as it is, also at the beginning
    first = lead.get_by_role("link").first
    expect(first).to_have_attribute("href", re.compile("^/versions/"))
    assert said.startswith(first.inner_text())


def test_nobody_moves_first_where_all_choose_at_once(page: Page) -> None:
    page.goto("/trials")
    at_once, in_turn = page.evaluate(SIDES, True), page.evaluate(SIDES, False)
    assert "choose at the same time" in at_once and "first" not in at_once and "in seat 1" in at_once
    assert "You move first" in in_turn and "moves second" in in_turn


def test_a_tournament_without_games_ranks_nobody(page: Page) -> None:
    page.goto("/trials")
    shown = page.evaluate(PENDING)
    assert "No standings yet" in shown and "963" not in shown


def test_a_table_wider_than_a_phone_shows_that_it_goes_on(page: Page, league: League) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"/tournaments/{league.tournament}")
    table = page.get_by_role("region", name="Standings").locator(".scroll")
    expect(table).to_be_visible()
    assert table.evaluate("box => box.scrollWidth > box.clientWidth")
    assert "local" in table.evaluate("box => getComputedStyle(box).backgroundAttachment"), "a shadow at the cut edge"


def test_evaluations_are_listed_only_on_request(page: Page, league: League, stack: LocalStack) -> None:
    found = stack.call("GET", "/tournaments?limit=200")["items"]
    own = [each for each in found if each["purpose"] in ("request", "schedule")]
    page.goto("/tournaments")
    rows = page.get_by_role("region", name="Tournaments").locator("tbody tr")
    expect(rows).to_have_count(len(own))
    page.get_by_label("Started by").select_option("all")
    expect(rows).to_have_count(len(found))
    page.get_by_label("Search").last.fill("no tournament has this name")
    expect(page.get_by_role("heading", name="No matching tournaments")).to_be_visible()


def test_a_snapshot_has_no_number_of_a_version(page: Page, league: League) -> None:
    page.goto(f"/trials/{league.trial}")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="main-1", exact=True)).first
    expect(row.get_by_role("link", name="snapshot", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="v0", exact=True)).to_have_count(0)


def test_pages_load_again_at_their_own_events_only(page: Page) -> None:
    page.goto("/trials")
    assert page.evaluate(EVENTS) == [[True, False, True], [True, False, True, False]]
