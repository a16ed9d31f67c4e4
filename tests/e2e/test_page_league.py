"""Every page and order of the web page over a league that was really trained."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from api.routes.replays import Position
from tests.e2e.browsing import Watched, open_browser, sign_in
from tests.e2e.stack import LocalStack
from tests.e2e.test_league import QUICK, SNAPSHOTS, finished, start, wait_until

SERIOUS = ("serious", "critical")
BOARD = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>'
NAP = {**QUICK, "start": "paused", "league": {"preset": "self_play", "players": [{"name": "main", "role": "main"}]}}


@dataclass
class League:
    """Ids of what was made."""

    project: str
    trial: str
    name: str
    tournament: str
    version: str
    match: int


@pytest.fixture(scope="module")
def league(shared_stack: LocalStack) -> League:
    if shared_stack.home.live_state() is None:
        started = shared_stack.up()
        assert started.returncode == 0, started.stdout + started.stderr
    spec = {
        **QUICK,
        "league": {
            "preset": "pfsp",
            "players": [{"name": "main", "role": "main"}, {"name": "random", "role": "bot", "bot": "random"}],
            "snapshot": SNAPSHOTS,
            "champion_gate": {"test": "sprt", "elo0": 0, "elo1": 200, "max_pairs": 64},
        },
        "budget": {"steps": 20_000},
    }
    trial = start(shared_stack, spec)
    wait_until(lambda: finished(shared_stack, trial))
    made = shared_stack.call("GET", f"/trials/{trial}")
    tournament = {"trial": made["name"], "entrants": ["latest", "snapshots", "bots"], "games": 4}
    held = shared_stack.call("POST", "/tournaments", {"project": made["project"], "spec": tournament})["id"]
    wait_until(lambda: shared_stack.call("GET", f"/tournaments/{held}")["status"] == "completed")
    match = shared_stack.call("GET", f"/trials/{trial}/matches?limit=1")["items"][0]
    return League(made["project"], trial, made["name"], held, match["version_id"], match["id"])


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def signed_in(browser: Browser, league: League, shared_stack: LocalStack) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=shared_stack.page)
    page = context.new_page()
    sign_in(page, shared_stack)
    page.close()
    yield context
    context.close()


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    """A page that must not have complained by the end of the test."""
    watched = Watched()
    opened = signed_in.new_page()
    watched.follow(opened)
    yield opened
    opened.close()
    watched.assert_clean()


def pages(league: League) -> dict[str, str]:
    """Addresses, and what each must show."""
    trial = f"/trials/{league.trial}"
    return {
        "/trials": league.name,
        "/trials/new": "This file is valid",
        trial: "Players (",
        f"{trial}/payoff": "α-rank mass",
        f"{trial}/matchmaking": "Branches",
        f"{trial}/lineage": "Snapshots, resets and forks",
        f"{trial}/promotions": "Gates",
        f"{trial}/matches": f"#{league.match}",
        f"/versions/{league.version}": "SHA-256",
        f"/play/{league.version}": "Ready when you are",
        "/tournaments": "tournament",
        "/tournaments/new": "Hold a tournament",
        f"/tournaments/{league.tournament}": "Cross table",
        "/schedules": "No schedules",
        "/system": "Who changed what",
    }


@pytest.mark.parametrize("width", [1280, 360], ids=["wide", "narrow"])
def test_every_page_shows_its_subject_fits_and_is_accessible(page: Page, league: League, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if width < 400 else "light")
    problems = []
    for address, subject in pages(league).items():
        page.goto(address)
        expect(page.get_by_role("main")).to_contain_text(subject)
        for chart in page.locator("[data-keep]").all():
            expect(chart).to_have_attribute("data-drawn", "yes")
        sideways = page.evaluate("document.documentElement.scrollWidth")
        if sideways > width:
            problems.append(f"{address}: {sideways} px wide")
        found = Axe().run(page).response["violations"]
        problems += [
            f"{address}: {each['id']} {each['nodes'][0]['html']}" for each in found if each["impact"] in SERIOUS
        ]
    assert problems == []


def test_filters_live_in_the_address(page: Page, league: League) -> None:
    page.goto("/trials")
    page.get_by_label("Search").fill("no such trial")
    expect(page.get_by_role("main")).to_contain_text("No trial fits")
    page.goto(f"/trials?q={league.name}&sort=steps")
    expect(page.get_by_label("Search")).to_have_value(league.name)
    expect(page.get_by_label("Sort by")).to_have_value("steps")
    expect(page.get_by_role("link", name=league.name)).to_be_visible()


def test_a_trial_file_is_checked_as_it_is_typed_and_started(page: Page) -> None:
    page.goto("/trials/new")
    start_button = page.get_by_role("button", name="Start the trial")
    file = page.get_by_role("textbox", name="Trial file")
    file.fill("game: {id: chess_on_mars}\n")
    expect(page.locator("#verdict")).to_contain_text("line 1")
    expect(start_button).to_be_disabled()
    name = f"typed-{uuid.uuid4().hex[:8]}"
    file.fill(f"project: e2e\ntrial: {name}\ngame: {{id: tic_tac_toe}}\nstart: paused\n")
    expect(page.locator("#verdict")).to_contain_text("This file is valid")
    start_button.click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    expect(page.locator("h1 .badge")).to_have_text("paused")


def test_orders_ask_first_and_are_followed_live(page: Page, stack: LocalStack) -> None:
    trial = start(stack, {**NAP, "budget": {"steps": 100_000_000}})
    page.goto(f"/trials/{trial}")
    status = page.locator("h1 .badge")
    expect(status).to_have_text("paused")
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Cancel").click()
    expect(status).to_have_text("paused")
    for order, follows in (("Resume", "running"), ("Pause", "paused")):
        page.get_by_role("button", name=order).click()
        page.get_by_role("dialog").get_by_role("button", name=order).click()
        expect(status).to_have_text(follows, timeout=90_000)
    page.get_by_role("button", name="Fork").click()
    page.get_by_role("dialog").get_by_role("button", name="Fork").click()
    expect(page.get_by_role("heading", name="-fork")).to_be_visible()
    page.goto(f"/trials/{trial}")
    page.get_by_role("button", name="Stop").click()
    page.get_by_label("How").select_option("now")
    page.get_by_role("button", name="Stop for good").click()
    expect(status).to_have_text("stopped", timeout=90_000)
    page.get_by_role("button", name="Put away").click()
    page.get_by_role("dialog").get_by_role("button", name="Put away").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("button", name="Put away")).to_be_hidden()


def hover_text(page: Page, chart: Locator) -> str:
    """What the chart says of the best player against the second, once the pointer has come to it."""
    plot = chart.locator(".nsewdrag").bounding_box()
    assert plot is not None
    page.mouse.move(plot["x"] + plot["width"] / 2, plot["y"] + 12)
    page.mouse.move(plot["x"] + plot["width"] * 0.3, plot["y"] + 8)
    page.wait_for_timeout(200)
    return chart.locator(".hoverlayer").text_content() or ""


def test_a_cell_of_the_heat_map_shows_its_games(page: Page, league: League) -> None:
    page.goto(f"/trials/{league.trial}/payoff?stream=rating")
    chart = page.locator('[data-keep="payoff"]')
    expect(chart).to_have_attribute("data-drawn", "yes")
    wait_until(lambda: "games" in hover_text(page, chart))
    page.mouse.down()
    page.mouse.up()
    cell = page.get_by_label("The chosen cell")
    expect(cell).to_contain_text("won")
    expect(cell.get_by_role("link", name="#").first).to_be_visible()
    assert "row=" in page.url
    for order in ("time", "cluster"):
        page.get_by_label("Order by").select_option(order)
        expect(page).to_have_url(re.compile(f"order={order}"))


def test_matchmaking_explains_any_generation(page: Page, league: League) -> None:
    page.goto(f"/trials/{league.trial}/matchmaking?generation=1")
    expect(page.get_by_role("main")).to_contain_text("1, attempt 1")
    page.get_by_role("button", name="The generation after").click()
    expect(page.get_by_role("main")).to_contain_text("2, attempt 1")
    expect(page.get_by_role("main")).to_contain_text("as of commit")


def test_promoting_and_rolling_back_move_the_champion(page: Page, league: League, stack: LocalStack) -> None:
    champion = f"/projects/{league.project}/aliases/champion?game=tic_tac_toe"
    before = stack.call("GET", champion)["version_id"]
    versions = stack.call("GET", f"/trials/{league.trial}/versions?limit=50")["items"]
    other = next(each["id"] for each in versions if each["id"] != before)
    page.goto(f"/versions/{other}")
    page.get_by_role("button", name="Promote").click()
    page.get_by_label("Reason").fill("a test of the page")
    page.get_by_role("dialog").get_by_role("button", name="Promote").click()
    expect(page.locator("h1 .badge")).to_have_text("champion")
    page.goto(f"/trials/{league.trial}/promotions")
    expect(page.get_by_role("main")).to_contain_text("a test of the page")
    page.get_by_role("button", name="Roll back").click()
    page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
    expect(page.get_by_role("main")).to_contain_text("rolled back by an operator")
    assert stack.call("GET", champion)["version_id"] == before


def test_a_schedule_is_made_paused_and_deleted(page: Page, league: League) -> None:
    page.goto("/schedules")
    page.get_by_role("button", name="Make a schedule").click()
    page.get_by_label("Name").fill("nightly")
    page.get_by_label("Trial whose league").select_option(label=f"{league.project} / {league.name}")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("heading", name="nightly active")).to_be_visible()
    page.get_by_role("button", name="Pause nightly").click()
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.get_by_role("heading", name="nightly paused")).to_be_visible()
    page.get_by_role("button", name="Delete nightly").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("main")).to_contain_text("No schedules")


def test_a_tournament_is_held_from_the_page(page: Page, league: League) -> None:
    page.goto(f"/tournaments/new?project={league.project}&trial={league.name}")
    page.get_by_label("Name").fill("by-hand")
    page.get_by_label("Format").select_option("knockout")
    page.get_by_label("Games of one pairing").fill("2")
    page.get_by_role("button", name="Hold it").click()
    expect(page.locator("h1")).to_contain_text("by-hand")
    expect(page.locator("h1 .badge")).to_have_text("completed", timeout=90_000)
    expect(page.get_by_role("region", name="Standings").locator("tbody tr").first).to_be_visible()


def test_a_token_is_made_shown_once_and_revoked(page: Page) -> None:
    page.goto("/system")
    name = f"t-{uuid.uuid4().hex[:6]}"
    page.get_by_role("button", name="Make a token").click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Make").click()
    expect(page.get_by_label("Token", exact=True)).to_have_value(re.compile("^lanista_"))
    page.get_by_role("button", name="I have it").click()
    page.get_by_role("button", name=f"Revoke {name}").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("button", name=f"Revoke {name}")).to_be_hidden()


def position(ply: int, *, done: bool = False) -> dict[str, Any]:
    """A position as a worker draws it."""
    legal = [{"action": action, "name": f"a{action}", "probability": 0.5} for action in (0, 1)]
    values = {"ply": ply, "seats": [0], "actions": [1], "names": ["a1"], "legal": [legal], "value": 0.5}
    over = {"seats": [], "actions": [], "names": [], "legal": [], "value": None}
    drawn = {"returns": [1.0, -1.0] if done else [0.0, 0.0], "done": done, "text": "board", "svg": BOARD}
    return Position.model_validate({**values, **(over if done else {}), **drawn}).model_dump()


def test_a_game_is_replayed_by_keyboard(page: Page, league: League, stack: LocalStack) -> None:
    """The page alone: what a worker would draw is given to it, in the shape that the API promises."""
    match = {**stack.call("GET", f"/matches/{league.match}"), "moves": None}
    positions = [position(0), position(1), position(2, done=True)]
    replay = {"match": match, "notation": "1. a1 a1", "positions": positions}
    page.route("**/api/v1/matches/*/replay*", lambda route: route.fulfill(json=replay))
    page.goto(f"/matches/{league.match}")
    expect(page.get_by_alt_text("The position after 0 moves")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("group", name="Moves")).to_contain_text("1 of 2")
    page.keyboard.press("End")
    expect(page.get_by_role("main")).to_contain_text("The game is over: +1 : −1.")
    assert "ply=2" in page.url
    page.get_by_label("Opinion of").select_option(index=1)
    page.get_by_role("button", name="First position").click()
    expect(page.get_by_role("list", name="Policy")).to_contain_text("50.0 %")


def test_a_person_plays_to_the_end(page: Page, league: League) -> None:
    """The page alone, as above."""
    game = {"id": str(uuid.uuid4()), "version_id": league.version, "seat": 0, "moves": [], "answered": []}
    page.route("**/api/v1/play", lambda route: route.fulfill(status=201, json={**game, "position": position(0)}))
    over = {**game, "position": position(2, done=True)}
    page.route("**/api/v1/play/*/moves", lambda route: route.fulfill(json=over))
    page.goto(f"/play/{league.version}")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("main")).to_contain_text("Your move.")
    page.get_by_role("button", name="a1").click()
    expect(page.get_by_role("main")).to_contain_text("You won.")
