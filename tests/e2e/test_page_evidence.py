"""The page claims nothing without its evidence: brackets, cycles, formulas, players and pairs of versions."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.browsing import serious_problems
from tests.e2e.leagues import League, wait_until
from tests.e2e.stack import LocalStack

BRACKET = """async () => {
  const { bracketRounds } = await import("/static/core/bracket.js");
  const pair = (round, pair, first, second, wins, losses) =>
    ({ round, pair, first, second, wins, losses, draws: 0, status: "played" });
  const rounds = bracketRounds(
    [pair(0, 1, "d", "e", 1, 1), pair(0, 5, "e", "d", 0, 2), pair(1, 0, "d", "a", 0, 2), pair(1, 1, "b", "c", 1, 1),
     pair(2, 0, "a", "c", 2, 0)], 5, "a");
  return rounds.map(({ name, slots }) => [name, slots.map(({ kind, winner }) => winner ?? kind)]);
}"""
TERMS = """async () => {
  const { termsOf } = await import("/static/core/matchmaking_terms.js");
  const branch = (branch, mass, players, probabilities) => ({ branch, mass, players, probabilities });
  return [
    termsOf("a", 0.47, [branch("pfsp", 0.5, ["a", "b"], [0.142, 0.358]), branch("self_play", 0.5, ["me"], [0.5])]),
    termsOf("a", null, [branch("pfsp_variance", 1, ["a", "b"], [0.5, 0.5])]),
    termsOf("a", 1, [branch("pfsp_squared", 1, ["a", "b"], [0.5, 0.5])]),
    termsOf("a", 0.5, [branch("pfsp_hard", 1, ["a", "b"], [0.25, 0.75])], 3),
    termsOf("c", 0.5, [branch("pfsp", 1, ["a", "b"], [0.5, 0.5])]),
  ].map((lines) => lines.join("; "));
}"""
CYCLES = """async () => {
  const { strongestCycles } = await import("/static/charts/payoff_order.js");
  const low = (edge) => [[null, 0.6, 0.1], [0.1, null, 0.6], [edge, 0.1, null]];
  const games = [[0, 20, 20], [20, 0, 20], [20, 20, 0]];
  return [[0.51, 8], [0.49, 8], [0.6, 21]].map(([edge, least]) => strongestCycles(low(edge), games, least).length);
}"""


OF_LAGOON = ["/versions/W", " of ", "/trials/L"]
EVENTS = """async () => {
  const { linkedPieces, namesOf } = await import("/static/core/event_links.js");
  const shown = (text, event, players) => linkedPieces(text, namesOf(event, players)).map((each) => each.href ?? each);
  const gate = { gate_id: "G", alias: "champion", candidate: "main-2", candidate_version_id: "V" };
  return [
    shown("Gate for champion (candidate main-2): opened", { type: "gate.opened", trial_id: "T", payload: gate }),
    shown("main was frozen as main-1",
      { payload: { player: "main", player_id: "P", snapshot: "main-1", snapshot_player_id: "S" } }),
    shown("Gate for champion (candidate main-4): opened against main-4 of lagoon", { trial_id: "T", payload: {
      gate_id: "G", alias: "champion", candidate: "main-4", candidate_version_id: "V",
      champion: "main-4", champion_version_id: "W", champion_trial: "lagoon", champion_trial_id: "L" } }),
    shown("champion moved from main-4 of lagoon to main-4", { trial_id: "T", payload: {
      to_version: "main-4", to_version_id: "V",
      from_version: "main-4", from_version_id: "W", from_trial: "lagoon", from_trial_id: "L" } }),
    shown("Tournament cup: main-1 against main.2; domain",
      { type: "pairing.played", payload: { name: "cup", tournament_id: "C" } },
      [{ name: "main", id: "P" }, { name: "main-1", id: "S" }]),
  ];
}"""

MOVES = """async () => {
  const { linkedPieces, namesOf, withMoves } = await import("/static/core/event_links.js");
  const move = { alias: "champion", at: "2030-01-01T12:00:00Z", version_id: "V", player: "main-23", number: 0,
    trial_id: "L", trial: "lagoon", reason: "it beat main-4" };
  const events = [{ text: "later", created_at: "2030-01-01T12:01:00Z" }];
  const shown = (event) => linkedPieces(event.text, namesOf(event)).map((each) => each.href ?? each);
  return withMoves(events, [move]).map(shown).map((parts) => parts.filter((part) => part !== "champion is now "));
}"""


def test_names_in_events_are_links(page: Page) -> None:
    page.goto("/trials")
    assert page.evaluate(EVENTS) == [
        ["/trials/T/promotions?gate=G", " (candidate ", "/versions/V", "): opened"],
        ["/players/P", " was frozen as ", "/players/S"],
        ["/trials/T/promotions?gate=G", " (candidate ", "/versions/V", "): opened against ", *OF_LAGOON],
        ["champion moved from ", *OF_LAGOON, " to ", "/versions/V"],
        ["Tournament ", "/tournaments/C", ": ", "/players/S", " against main.2; domain"],
    ], "whole names only"
    assert page.evaluate(MOVES) == [
        ["later"],
        ["/versions/V", " of ", "/trials/L", ": it beat main-4"],
    ], "a champion of another trial is told of at its time, with its trial"


def test_events_and_the_list_of_tournaments_name_by_links(page: Page, league: League, stack: LocalStack) -> None:
    page.goto(f"/trials/{league.trial}")
    events = page.get_by_role("list", name="Events, newest first")
    expect(events.locator(f"a[href='/tournaments/{league.tournament}']").first).to_be_visible()
    winner = stack.call("GET", f"/tournaments/{league.tournament}/standings?limit=1")["items"][0]
    page.goto("/tournaments")
    row = page.get_by_role("row").filter(has=page.locator(f"a[href='/tournaments/{league.tournament}']"))
    expect(row.locator(f"a[href='/versions/{winner['version_id']}']")).to_be_visible()


def test_the_terms_of_a_page_explain_themselves(page: Page, league: League) -> None:
    plain = {
        "When",
        "Since",
        "Created",
        "Name",
        "Id",
        "Size",
        "Reason",
        "Status",
        "Game",
        "Against",
        "Opened",
        "How",
        "By",
    }
    plain |= {"Previous", "Project", "Elo"}
    for path in (
        f"/trials/{league.trial}/promotions",
        f"/tournaments/{league.tournament}",
        f"/versions/{league.version}/against/{league.opponent}",
    ):
        page.goto(path)
        expect(page.locator("main th").first).to_be_attached()
        terms = page.locator("main th:not(:has(abbr)), main dt:not(:has(abbr))").all_inner_texts()
        assert {each.strip() for each in terms} - plain - {""} == set(), path


def test_rules_of_the_page_that_need_no_league(page: Page) -> None:
    page.goto("/trials")
    assert page.evaluate(BRACKET) == [
        ["Quarter-finals", ["bye", "d", "bye", "bye"]],
        ["Semi-finals", ["a", "c"]],
        ["Final", ["a"]],
    ], "a drawn match is one box, and who advanced is seen from the next round"
    assert page.evaluate(TERMS) == [
        "(1 − 0.47)² = 0.28, 28.4 % of the sum 0.99, of 50.0 % of the games",
        "0.50 × (1 − 0.50) = 0.25 (not known yet: counts as 0.50), 50.0 % of the sum 0.50",
        "(1 − 1.00)² = 0: all weights are 0, so each of 2 is as likely",
        "(1 − 0.50)^3 = 0.13, 25.0 % of the sum 0.50",
        "",
    ]
    assert page.evaluate(CYCLES) == [1, 0, 0], "one edge without evidence is no cycle, and neither are too few games"


CYCLE = """async (id) => {
  const { cycles } = await import("/static/charts/payoff_cards.js");
  const square = (ahead, behind) => [[null, ahead, behind], [behind, null, ahead], [ahead, behind, null]];
  const payoff = {
    revision: 1, stream: "all", min_games: 8, players: ["a", "b", "c"].map((name) => ({ id, name })),
    win_rate: square(0.7, 0.3), low: square(0.6, 0.2),
    wins: square(70, 30), losses: square(30, 70), draws: square(0, 0),
  };
  document.body.prepend(cycles({ payoff }, { state: {} }));
}"""


def test_the_corners_of_a_cycle_lead_to_players(page: Page, league: League, stack: LocalStack) -> None:
    player = stack.call("GET", f"/versions/{league.version}")["player_id"]
    page.goto("/trials")
    expect(page.locator("h1")).to_have_text("Trials")
    page.evaluate(CYCLE, player)
    page.locator(".triangle a", has_text="b").click()
    expect(page).to_have_url(re.compile(f"/players/{player}$"))


def test_the_payoff_shows_on_how_many_games_it_rests(page: Page, league: League) -> None:
    page.goto(f"/trials/{league.trial}/payoff")
    main = page.get_by_role("main")
    expect(main).to_contain_text(re.compile(r"fewer than \d+ games"))
    expect(main).to_contain_text(re.compile(r"Rests on \d+ rating games"))
    page.get_by_label("Show").select_option("counts")
    expect(page).to_have_url(re.compile("show=counts"))
    expect(page.get_by_role("application", name=re.compile("^Raw counts"))).to_have_attribute("data-drawn", "yes")
    assert serious_problems(page) == []


def test_matchmaking_says_how_each_probability_follows_and_what_its_terms_mean(page: Page, league: League) -> None:
    page.goto(f"/trials/{league.trial}/matchmaking")
    formula = page.locator("td.formula").first
    expect(formula).to_contain_text(re.compile(r"\(1 − 0\.\d\d\)² = 0\.\d\d.*, \d+\.\d % of the sum"))
    shown = page.locator(".share").first
    probability = float((shown.locator("b").inner_text()).removesuffix(" %"))
    track, filled = (shown.locator(part).bounding_box() for part in (".track", ".filled"))
    assert track and filled and abs(100 * filled["width"] / track["width"] - probability) < 1.5, "bars are to scale"
    term = page.locator("abbr.term", has_text="pfsp squared").first
    expect(term).to_have_attribute("title", re.compile("weighted by"))
    assert serious_problems(page) == []


def test_a_knockout_has_a_final_and_a_winner(page: Page, league: League, stack: LocalStack) -> None:
    entrants = {"trial": league.name, "entrants": ["latest", "snapshots", "bots"], "format": "knockout", "games": 2}
    held = stack.call("POST", "/tournaments", {"project": league.project, "spec": entrants})["id"]
    wait_until(lambda: stack.call("GET", f"/tournaments/{held}")["status"] == "completed")
    first, second = stack.call("GET", f"/tournaments/{held}/report")["standings"][:2]
    assert (first["rank"], second["rank"]) == (1, 2)
    page.goto(f"/tournaments/{held}")
    final = page.get_by_role("region", name="Final", exact=True)
    expect(final.locator(".won")).to_contain_text([first["label"]])
    expect(final.locator(".won")).to_contain_text(["winner"])
    expect(final.get_by_role("link", name=second["label"])).to_have_attribute(
        "href", f"/versions/{second['version_id']}"
    )
    assert serious_problems(page) == []


FORGETS = """async () => {
  const { forgets } = await import("/static/pages/payoff.js");
  const of = (rate) => forgets({ wins: [[30]], draws: [[0]], losses: [[70]], win_rate: [[rate]] }, 0, 0);
  return [of(0.56), of(0.31)];
}"""
OPPONENTS = """async () => {
  const { opponentsOf } = await import("/static/core/opponents.js");
  const players = ["a", "b", "c", "d"].map((id) => ({ id, name: id }));
  const wins = [[0, 9, 2, 1], [1, 0, 0, 0], [8, 0, 0, 0], [0, 0, 0, 0]];
  const losses = wins.map((row, at) => row.map((_, other) => wins[other][at]));
  const none = wins.map((row) => row.map(() => 0));
  const rate = (won, lost) => (won + lost ? won / (won + lost) : null);
  const rates = wins.map((row, at) => row.map((won, other) => rate(won, losses[at][other])));
  const payoff = { players, wins, losses, draws: none, win_rate: rates, low: none, high: rates, min_games: 8 };
  return opponentsOf(payoff, "a").map(({ name, games }) => [name, games]);
}"""
GROUPS = """async () => {
  const { groupedOpponents } = await import("/static/core/opponents.js");
  const player = (name, role, rate) => ({ name, role, rate });
  const fixed = [player("s1", "historical", 0.2), player("s2", "historical", 0.5), player("bot", "bot", 0.9)];
  const names = ([key, rows]) => [key, rows.map((each) => each.name)];
  const shown = (found) => Object.fromEntries(
    Object.entries(groupedOpponents(found, ["main", "main_exploiter"], 8)).map(names));
  const exploiter = (rate) => player("x", "main_exploiter", rate);
  return [shown([exploiter(0.1), ...fixed]), shown([...fixed, exploiter(0.99)])];
}"""


def test_a_player_has_a_page_with_its_rating_versions_and_opponents(
    page: Page, league: League, stack: LocalStack
) -> None:
    page.goto(f"/trials/{league.trial}")
    assert page.evaluate(OPPONENTS) == [["c", 10], ["b", 10]], "the worst first, and none with too few games"
    strong, reset = page.evaluate(GROUPS)
    assert strong == reset == {"learning": ["x"], "worst": ["s1", "s2"], "best": ["bot"]}, "a reset moves nobody"
    page.get_by_role("region", name="Players", exact=True).get_by_role("link", name="main", exact=True).click()
    expect(page.locator("h1")).to_contain_text("main")
    page.reload()
    expect(page.get_by_role("img", name=re.compile("^Elo of main over steps"))).to_have_attribute("data-drawn", "yes")
    expect(page.get_by_role("main")).to_contain_text("Zero is random v0")
    page.locator("select[name=over]").select_option("time")
    expect(page.get_by_role("img", name=re.compile("^Elo of main over time"))).to_have_attribute("data-drawn", "yes")
    expect(page).to_have_url(re.compile("over=time"))
    expect(page.get_by_role("region", name="Versions").last.get_by_role("link").first).to_be_visible()
    expect(page.get_by_role("region", name="Opponents it does worst against").locator("tbody tr").first).to_be_visible()
    assert serious_problems(page) == []


def test_a_rate_that_forgets_old_games_says_so(page: Page) -> None:
    page.goto("/trials")
    far, near = page.evaluate(FORGETS)
    assert far.startswith("recent games weigh more: all of them give 30")
    assert near is None


def test_two_versions_have_a_page_by_seat_and_opening(page: Page, league: League, stack: LocalStack) -> None:
    pair = f"/versions/{league.version}/against/{league.opponent}"
    found = stack.call("GET", pair)
    assert found["total"]["games"] == sum(each["games"] for each in found["seats"]) > 0
    assert found["total"]["games"] == sum(each["games"] for each in found["openings"])
    assert found["total"]["low"] <= found["total"]["win_rate"] <= found["total"]["high"]
    turned = stack.call("GET", f"/versions/{league.opponent}/against/{league.version}")
    assert turned["total"]["wins"] == found["total"]["losses"], "the same games from the other side"
    assert {each["seat"]: each["games"] for each in turned["seats"]} == {
        1 - each["seat"]: each["games"] for each in found["seats"]
    }
    page.goto(pair)
    expect(page.get_by_role("main")).to_contain_text(f"in {found['total']['games']} games")
    expect(page.get_by_role("region", name="Results by seat").locator("tbody tr")).to_have_count(len(found["seats"]))
    named = stack.call("GET", f"{pair}/openings")["items"]
    assert named[0]["names"] == [str(action + 1) for action in named[0]["opening"]], "cells are numbered from 1"
    openings = page.get_by_role("region", name="Results by opening").locator("tbody tr")
    expect(openings).to_have_count(len(found["openings"]))
    expect(openings.first).to_contain_text(" ".join(named[0]["names"]) or "usual start")
    expect(openings.first).to_contain_text(re.compile(r"seat \d: \d+ won"))
    expect(page.get_by_role("region", name="Recorded games").get_by_role("link").first).to_be_visible()
    page.get_by_role("link", name="Swap sides").click()
    expect(page).to_have_url(re.compile(f"/versions/{league.opponent}/against/"))
    assert serious_problems(page) == []


LINES = """async () => {
  const { pieces, ratingLines, ratingRange } = await import("/static/charts/rating_lines.js");
  const players = [
    { id: "p", name: "main", role: "main" },
    { id: "s", name: "main-1", role: "historical", parent_id: "p" },
  ];
  const time = (minute) => `2030-01-01T00:0${minute}:00Z`;
  const rated = [["p", "v3", 30, 5, 4], ["p", "v1", 10, 0, 1], ["s", "s1", 20, 40, 2], ["p", "fresh", 20, 0, 2]].map(
    ([player_id, version_id, steps, value, minute]) =>
      ({ player_id, version_id, steps, value, low: -900, high: 900, recorded_at: time(minute) }));
  const reset = { player_id: "p", version_id: "fresh", created_at: time(2) };
  const unrated = { ...reset, version_id: "unrated" };
  const shapes = [[rated, reset], [rated.slice(0, 2), unrated], [rated, { ...reset, player_id: "q" }]];
  return [
    ...shapes.map(([points, one]) =>
      pieces(ratingLines(points, players, [one])[0].points).map((piece) => piece.map((point) => point.version_id))),
    ratingRange(rated),
  ];
}"""


def test_the_rating_chart_breaks_at_resets_and_says_who_is_zero(page: Page, league: League) -> None:
    page.goto(f"/trials/{league.trial}?over=log")
    assert page.evaluate(LINES) == [
        [["v1", "s1"], ["fresh", "v3"]],
        [["v1"], ["v3"]],
        [["v1", "s1", "fresh", "v3"]],
        [-50, 90],
    ], "intervals do not set the axis; a reset ends a line, also where neither version of it is rated"
    expect(page.get_by_role("main")).to_contain_text("Zero is random v0")
    drawn = page.get_by_role("img", name="Elo over steps")
    expect(drawn).to_have_attribute("data-drawn", "yes")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save ratings as CSV").click()
    assert saved.value.suggested_filename == "ratings.csv"
    assert serious_problems(page) == []
