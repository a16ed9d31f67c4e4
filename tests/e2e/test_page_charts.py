"""Charts of the page: over steps and time, smoothed, many players, saved as files, and the metric explorer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browsing import Watched, serious_problems, sign_in
from tests.e2e.leagues import League, finished, start, wait_until
from tests.e2e.stack import LocalStack

POKER = {
    "game": {"id": "kuhn_poker"},
    "model": {"id": "mlp", "hidden": [16]},
    "seed": 3,
    "generation": {"steps": 4_000, "tables": 64},
    "league": {
        "preset": "psro",
        "players": [{"name": "main", "role": "main"}],
        "snapshot": {"min_steps": 4_000, "max_steps": 4_000, "win_rate": 1.0},
        "champion_gate": None,
    },
    "evaluation": {"every_generations": 1, "games": 40, "nash_conv": True},
    "budget": {"steps": 12_000},
}
SERIES = """async () => {
  const { chooseLines, mergeSeries, pointsFor, quantileBand, smoothed } = await import("/static/core/series.js");
  const { linesAsCsv, asCsv } = await import("/static/charts/saving.js");
  const { pinnedMetrics } = await import("/static/core/pins.js");
  const series = (player_id, generations) =>
    ({ player_id, generations, steps: generations, values: generations, times: generations });
  const lines = Array.from({ length: 300 }, (_, at) => ({ id: at, name: `player-${at}` }));
  const many = chooseLines(lines, "player-29");
  let grown = [series("a", [1])];
  for (let last = 2; last <= 5000; last++) grown = mergeSeries(grown, [series("a", [last])]);
  const [{ generations, values }] = grown;
  const gaps = generations.slice(1).map((generation, at) => generation - generations[at]);
  return {
    smooth: smoothed([1, null, 1, 3], 0.5).map((value) => value && Number(value.toFixed(3))),
    raw: smoothed([4, 2], 0),
    merged: mergeSeries([series("a", [1, 2]), series("b", [1])], [series("a", [2, 3]), series("c", [9])])
      .map((line) => [line.player_id, line.generations]),
    grown: [generations.length, values.length, generations[0], generations.at(-1), Math.max(...gaps)],
    shown: many.shown.filter((line) => !line.isFaint).map((line) => line.name).slice(0, 2),
    rest: many.rest.length,
    band: quantileBand(Array.from({ length: 101 }, (_, value) => ({ x: 1, value }))),
    points: [pointsFor(3), pointsFor(300)],
    csv: linesAsCsv([{ name: "=x", x: [1], y: [2] }, { x: [1], y: [9], hoverinfo: "skip" }]),
    banded: linesAsCsv([{ name: "x", x: [0], y: [2], customdata: [[1, 3]] }], true),
    table: asCsv(["row", "a,b"], [["me", 0.5], ["you", null]]),
    pins: [{ pins: "a%2Fb,gone" }, { pins: "none" }, {}].map((query) => pinnedMetrics(["kl", "a/b"], query)),
  };
}"""


def test_rules_of_charts_that_need_no_league(page: Page) -> None:
    page.goto("/trials")
    found: dict[str, Any] = page.evaluate(SERIES)
    assert found["smooth"] == [1, None, 1, pytest.approx(2.143)], "the start is not drawn towards zero; gaps stay"
    assert found["raw"] == [4, 2]
    assert found["merged"] == [["a", [1, 2, 3]], ["b", [1]], ["c", [9]]]
    points, values, first, last, gap = found["grown"]
    assert points == values <= 600, "a page that stays open for days keeps no more"
    assert (first, last) == (1, 5000) and gap < 100, "the whole history is kept, evenly"
    assert (found["shown"], found["rest"]) == (["player-29", "player-290"], 290), "who is looked for is drawn"
    assert found["band"] == [{"x": 1, "low": 10, "middle": 50, "high": 90}]
    assert found["points"] == [300, 25], "of many players fewer points each"
    assert found["csv"] == 'line,x,y\r\n"\'=x",1,2'
    assert found["banded"] == 'line,x,y,low,high\r\n"x",1970-01-01T00:00:00.000Z,2,1,3'
    assert found["table"] == '"row","a,b"\r\n"me",0.5\r\n"you",'
    assert found["pins"] == [["a/b"], [], ["kl"]], "the address comes first, then what is usual"


def test_charts_go_over_time_and_are_saved(page: Page, league: League, tmp_path: Path) -> None:
    page.goto(f"/trials/{league.trial}")
    page.locator("select[name=over]").select_option("time")
    page.locator("select[name=smooth]").select_option("0.9")
    expect(page).to_have_url(re.compile(r"over=time&smooth=0\.9"))
    throughput = page.get_by_role("img", name="Steps per second")
    expect(throughput).to_have_attribute("data-drawn", "yes")
    expect(throughput.locator(".xtitle")).to_have_text("time")
    with page.expect_download() as table:
        page.get_by_role("button", name="Save throughput as CSV").click()
    table.value.save_as(tmp_path / "throughput.csv")
    header, *rows = (tmp_path / "throughput.csv").read_text().splitlines()
    assert header == "line,x,y"
    assert rows and all(re.match(r'"main",\d{4}-\d\d-\d\dT[\d:.]+Z,[\d.]+$', row) for row in rows), rows[:3]
    with page.expect_download() as picture:
        page.get_by_role("button", name="Save ratings as PNG").click()
    picture.value.save_as(tmp_path / "ratings.png")
    assert (tmp_path / "ratings.png").read_bytes().startswith(b"\x89PNG"), "drawn under the page's own policy"
    assert (tmp_path / "ratings.png").stat().st_size > 5_000, "and not blank"
    page.goto(f"/trials/{league.trial}/payoff")
    expect(page.locator("[data-keep=payoff]")).to_have_attribute("data-drawn", "yes")
    with page.expect_download() as heat_map:
        page.get_by_role("button", name="Save payoff as PNG").click()
    assert heat_map.value.suggested_filename == "payoff.png"


def test_the_metric_explorer_keeps_its_charts_in_the_address(page: Page, league: League) -> None:
    page.goto(f"/trials/{league.trial}")
    page.get_by_role("link", name="Metrics", exact=True).click()
    expect(page.get_by_role("region", name="entropy", exact=True)).to_be_visible()
    page.get_by_label("Find a metric").fill("game length")
    page.get_by_label("Find a metric").press("Enter")
    names = page.get_by_role("group", name="Pin metrics").get_by_role("button")
    expect(names).to_have_count(1)
    names.first.click()
    chart = page.get_by_role("img", name="game length over steps")
    expect(chart).to_have_attribute("data-drawn", "yes")
    expect(page).to_have_url(re.compile("pins=[^&]*game_length"))
    page.get_by_role("button", name="Unpin entropy").click()
    expect(page.get_by_role("region", name="entropy", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Logarithmic: game length").click()
    expect(page.get_by_role("button", name="Logarithmic: game length")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Players", exact=True).fill("nobody")
    page.get_by_label("Players", exact=True).press("Enter")
    expect(page.get_by_role("main")).to_contain_text("None of these players has it.")
    page.get_by_label("Players", exact=True).fill("")
    page.get_by_label("Players", exact=True).press("Enter")
    expect(chart).to_have_attribute("data-drawn", "yes")
    assert serious_problems(page) == []
    shared = page.url
    page.goto(f"/trials/{league.trial}/metrics")
    expect(page.get_by_role("region", name="game length", exact=True)).to_be_visible()
    page.evaluate("localStorage.removeItem('lanista-pinned-metrics')")
    assert "game_length" in shared, "and another browser sees the same by the address"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_explorer_fits_a_telephone(stack: LocalStack, league: League, browser: Browser, scheme: str) -> None:
    watched = Watched()
    context = browser.new_context(
        color_scheme=scheme,  # type: ignore[arg-type]
        viewport={"width": 390, "height": 800},
        base_url=stack.page,
    )
    page = context.new_page()
    sign_in(page, stack)
    watched.follow(page)
    page.goto(f"/trials/{league.trial}/metrics?pins=entropy&over=log")
    expect(page.get_by_role("img", name="entropy over steps")).to_have_attribute("data-drawn", "yes")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, "nothing may stick out sideways"
    assert serious_problems(page) == []
    context.close()
    watched.assert_clean()


def test_an_open_page_asks_for_little(page: Page, league: League) -> None:
    """What has not changed is not sent again, and of metrics only newer points are asked for."""
    asked: list[tuple[str, int]] = []
    page.goto(f"/trials/{league.trial}/metrics")
    expect(page.locator("figure [data-drawn]").first).to_be_visible()
    page.on("response", lambda response: asked.append((response.url, response.status)))
    with page.expect_response(re.compile("after_generation=")):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    lists = [status for url, status in asked if "/ratings?" in url or "/players?" in url]
    assert lists and set(lists) == {304}


def test_nash_conv_of_a_small_game_is_measured_and_shown(page: Page, stack: LocalStack) -> None:
    large = {"game": {"id": "tic_tac_toe"}, "evaluation": {"nash_conv": True}, "budget": {"steps": 1000}}
    with pytest.raises(AssertionError, match=r"body\.spec\.evaluation\.nash_conv.*more than 50,000 histories"):
        stack.call("POST", "/trials", {"project": "e2e", "name": "too-large", "spec": large})
    trial = start(stack, POKER)
    wait_until(lambda: finished(stack, trial))
    found = stack.call("GET", f"/trials/{trial}/metrics?name=nash_conv&name=nash_conv_mixture&times=true")["items"]
    assert {line["name"] for line in found} == {"nash_conv", "nash_conv_mixture"}
    for line in found:
        assert line["generations"] and all(0 <= value <= 4 for value in line["values"]), line
        assert len(line["times"]) == len(line["steps"]) == len(line["generations"])
    page.goto(f"/trials/{trial}")
    card = page.get_by_role("region", name="NashConv", exact=True)
    expect(card.get_by_role("img", name="NashConv over steps")).to_have_attribute("data-drawn", "yes")
    expect(card).to_contain_text("0 is an equilibrium")
    expect(page.get_by_role("list", name="Support of the mixture").get_by_role("link").first).to_be_visible()
    assert serious_problems(page) == []


STILL = """async () => {
  const { nowRow, troubleStrip } = await import("/static/components/now_row.js");
  const { happeningList } = await import("/static/components/happening_list.js");
  const { patchChildren } = await import("/static/core/dom.js");
  const trial = { id: "t", project: "p", status: "running", budget_steps: 10 };
  const nothing = { champion: null, gain: null, gates: [], tournaments: [], problems_last_hour: 0 };
  const long = "a-player-with-a-long-name-17";
  const bounds = { llr: 1, lower_bound: -3, upper_bound: 3, pairs: 99 };
  const gate = { id: "g", candidate: `${long} v3`, champion: `${long} v2`, ...bounds };
  const tournament = { id: "u", name: long, pairings_played: 1, pairings_known: 9 };
  const gain = { player: long, player_id: "P", per_million_steps: -1234, low: -2345, high: 999,
    from_steps: 1e6, to_steps: 2e6 };
  const busy = { ...nothing, gain, gates: [gate, gate], tournaments: [tournament] };
  const place = document.getElementById("main");
  const event = (id, text) => ({ id, text, level: "plain", created_at: "2030-01-01T00:00:00Z" });
  const measured = (overview, events, troubles) => {
    const shown = [troubleStrip(trial, troubles), nowRow({ trial, overview }, null), happeningList(events, trial)];
    patchChildren(place, shown);
    const rows = [...place.querySelectorAll(".happenings li")];
    const now = place.querySelector(".now");
    return [now.offsetTop, now.offsetHeight, rows[1].offsetTop - rows[0].offsetTop];
  };
  const before = [event(2, "short"), event(1, "short")];
  const troubles = ["attempt 1 failed ".repeat(30), "attempt 2 failed"];
  const later = [event(3, "very long ".repeat(40)), ...before];
  const heights = [measured(nothing, before, []), measured(busy, later, troubles)];
  place.querySelector(".troubles summary").click();
  const told = place.querySelector(".troubles ul").textContent;
  if (!told.includes(troubles[0]) || !told.includes("attempt 2 failed")) throw new Error(told);
  if (place.querySelector(".now a[href='/players/P']")?.textContent !== long) throw new Error("no link to the player");
  return [...heights, [...place.querySelectorAll(".now > li")].map((tile) => tile.title)];
}"""


@pytest.mark.parametrize("width", [1400, 390])
def test_other_words_move_nothing(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto("/schedules")
    expect(page.locator("h1")).to_be_visible()
    quiet, busy, titles = page.evaluate(STILL)
    assert quiet == busy, "the row of tiles and the rows of events keep their heights, and trouble has its place"
    assert "no certain change\na-player-with-a-long-name-17: −1234 Elo" in titles[1], "cut words are told on hover"
    assert all(titles)
