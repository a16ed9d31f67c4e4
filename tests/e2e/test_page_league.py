"""Every page and order of the web page over a league that was really trained."""

from __future__ import annotations

import re
import uuid

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.browsing import serious_problems
from tests.e2e.leagues import QUICK, League, start
from tests.e2e.stack import LocalStack

NAP = {**QUICK, "start": "paused", "league": {"preset": "self_play", "players": [{"name": "main", "role": "main"}]}}


def pages(league: League) -> dict[str, str]:
    """Addresses, and what each must show."""
    trial = f"/trials/{league.trial}"
    return {
        "/trials": league.name,
        "/trials/new": "This file is valid",
        trial: "Players (",
        f"{trial}/payoff": "α-rank mass",
        f"{trial}/matchmaking": "Branches",
        f"{trial}/lineage": "Snapshots, resets, copies and forks",
        f"{trial}/promotions": "Gates",
        f"{trial}/matches": f"#{league.match}",
        f"/versions/{league.version}": "SHA-256",
        f"/play/{league.version}": "Ready to play",
        "/tournaments": "tournament",
        "/tournaments/new": "Start a tournament",
        f"/tournaments/{league.tournament}": "Cross table",
        "/schedules": "No schedules",
        "/system": "Audit log",
        f"/matches/{league.match}?ply=1": "Policy and value",
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
        problems += serious_problems(page)
    assert problems == []


def test_filters_live_in_the_address(page: Page, league: League) -> None:
    page.goto("/trials")
    page.get_by_label("Search").fill("no such trial")
    expect(page.get_by_role("main")).to_contain_text("No matching trials")
    page.goto(f"/trials?q={league.name}&sort=steps")
    expect(page.get_by_label("Search")).to_have_value(league.name)
    expect(page.get_by_label("Sort by")).to_have_value("steps")
    expect(page.get_by_role("link", name=league.name)).to_be_visible()


def test_a_trial_file_is_checked_as_it_is_typed_and_started(page: Page) -> None:
    page.goto("/trials/new")
    start_button = page.get_by_role("button", name="Start the trial")
    file = page.get_by_role("textbox", name="Trial file")
    file.fill("game: {id: chess_on_mars}\n")
    expect(page.locator("#file-verdict")).to_contain_text("line 1")
    expect(start_button).to_be_disabled()
    name = f"typed-{uuid.uuid4().hex[:8]}"
    file.fill(f"project: e2e\ntrial: {name}\ngame: {{id: tic_tac_toe}}\nstart: paused\n")
    page.get_by_label("Algorithm of all players").select_option("vtrace")
    expect(page.get_by_text("rho_clip")).to_be_attached()
    page.get_by_role("button", name="Put into the file").click()
    expect(file).to_have_value(re.compile(r"start: paused\nalgorithm: \{id: vtrace\}\n$"))
    expect(page.locator("#file-verdict")).to_contain_text("This file is valid")
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
    page.get_by_role("link", name="Fork").click()
    page.get_by_role("button", name="Start the fork").click()
    expect(page.get_by_role("heading", name="-fork")).to_be_visible()
    page.goto(f"/trials/{trial}")
    page.get_by_role("button", name="Stop").click()
    page.get_by_label("Mode").select_option("now")
    page.get_by_role("button", name="Stop permanently").click()
    expect(status).to_have_text("stopped", timeout=90_000)
    page.get_by_role("button", name="Archive").click()
    page.get_by_role("dialog").get_by_role("button", name="Archive").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("button", name="Archive")).to_be_hidden()


def hover_a_cell(page: Page, chart: Locator) -> str:
    """Move the pointer down the map until it is on a cell of two who met; what the note beside it says then."""
    box = chart.bounding_box()
    assert box is not None
    for share in range(5, 60, 5):
        page.mouse.move(box["x"] + box["width"] * 0.45, box["y"] + box["height"] * share / 100)
        note = chart.get_by_role("status")
        if note.is_visible() and "games" in (note.text_content() or ""):
            return note.locator("span").first.inner_text()
    raise AssertionError("no cell says how many games it stands for")


def test_a_cell_of_the_heat_map_shows_its_games(page: Page, league: League) -> None:
    page.goto(f"/trials/{league.trial}/payoff?stream=rating")
    chart = page.locator('[data-keep="payoff"]')
    expect(chart).to_have_attribute("data-drawn", "yes")
    pair = hover_a_cell(page, chart)
    page.mouse.down()
    page.mouse.up()
    cell = page.get_by_label("Selected cell")
    expect(cell.get_by_role("heading")).to_have_text(pair)
    expect(cell).to_contain_text("won")
    expect(cell.get_by_role("link", name="#").first).to_be_visible()
    assert "row=" in page.url
    page.get_by_label("Show").select_option("return")
    expect(page.get_by_role("application", name="Mean returns")).to_be_visible()
    expect(cell).to_contain_text("a game")
    for order in ("time", "cluster"):
        page.get_by_label("Order by").select_option(order)
        expect(page).to_have_url(re.compile(f"order={order}"))


def test_the_heat_map_is_walked_and_opened_by_keyboard(page: Page, league: League) -> None:
    page.goto(f"/trials/{league.trial}/payoff?stream=rating")
    chart = page.locator('[data-keep="payoff"]')
    chart.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(chart.get_by_role("status")).to_contain_text("against")
    pair = chart.get_by_role("status").locator("span").first.inner_text()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Selected cell").get_by_role("heading")).to_have_text(pair)


def test_the_lineage_leads_to_versions(page: Page, league: League) -> None:
    page.goto(f"/trials/{league.trial}/lineage")
    chart = page.locator('[data-keep="lineage"]')
    chart.focus()
    page.keyboard.press("Home")
    expect(chart.get_by_role("status")).to_contain_text("steps")
    version = chart.get_by_role("status").locator("strong").inner_text()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(version)
    expect(page.get_by_role("main")).to_contain_text("SHA-256")


def test_matchmaking_explains_any_generation(page: Page, league: League) -> None:
    page.goto(f"/trials/{league.trial}/matchmaking?generation=1")
    expect(page.get_by_role("main")).to_contain_text("1, attempt 1")
    page.get_by_role("button", name="Next generation").click()
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


def test_both_mass_cards_say_what_they_wait_for(page: Page, stack: LocalStack, league: League) -> None:
    trial = stack.call("GET", f"/versions/{league.four_in_a_row}")["trial_id"]
    page.goto(f"/trials/{trial}/payoff")
    for name in ("α-rank mass", "Nash mass"):
        expect(page.get_by_role("region", name=name)).to_contain_text("Shown after the first rating tournament.")


def test_a_schedule_is_made_paused_and_deleted(page: Page, league: League) -> None:
    page.goto("/schedules")
    page.get_by_role("button", name="Create a schedule").click()
    page.get_by_label("Name").fill("nightly")
    page.get_by_label("Trial").select_option(label=f"{league.project} / {league.name}")
    page.get_by_role("button", name="Create schedule").click()
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
    page.get_by_label("Games per pairing").fill("2")
    page.get_by_role("button", name="Start tournament").click()
    expect(page.locator("h1")).to_contain_text("by-hand")
    expect(page.locator("h1 .badge")).to_have_text("completed", timeout=90_000)
    expect(page.get_by_role("region", name="Standings").locator("tbody tr").first).to_be_visible()
    expect(page.get_by_role("region", name="Bracket").last).to_contain_text("Final")


def test_the_standings_mark_who_was_withdrawn(page: Page, league: League) -> None:
    def withdraw(route: Route) -> None:
        report = route.fetch().json()
        report["standings"][-1]["withdrawn"] = "its checkpoint is damaged"
        route.fulfill(json=report)  # without the ETag of the real one, for which a refresh would get an empty 304

    page.route("**/report", withdraw)
    page.goto(f"/tournaments/{league.tournament}")
    rows = page.get_by_role("region", name="Standings").locator("tbody tr")
    expect(rows.last.locator(".badge")).to_have_text("withdrawn")
    expect(rows.last.locator(".badge")).to_have_attribute("title", "its checkpoint is damaged")
    expect(rows.locator(".badge")).to_have_count(1)


def test_what_happened_before_is_shown_on_arrival(page: Page, league: League) -> None:
    page.goto(f"/trials/{league.trial}")
    events = page.get_by_role("list", name="Events, newest first")
    expect(events).to_contain_text("The trial went from stopping to completed")
    expect(events).to_contain_text("main was frozen as")


def test_the_system_page_shows_who_works(page: Page) -> None:
    page.goto("/system")
    queues = page.get_by_role("region", name="Queues").locator("tbody tr")
    expect(queues).to_have_count(5)
    for queue in ("league", "store", "train", "play", "interactive"):
        row = queues.filter(has=page.get_by_text(queue, exact=True))
        expect(row.get_by_text("served", exact=True)).to_be_visible()
    expect(page.get_by_role("meter", name="CPUs in use")).to_be_visible()


def test_the_system_page_says_which_worker_is_away(page: Page) -> None:
    """The answer is a real one with the train worker taken out, for Temporal remembers a dead one for minutes."""

    def without_train_worker(route: Route) -> None:
        system = route.fetch().json()
        for queue in system["queues"]:
            queue["pollers"] = 0 if queue["name"] in ("train", "play", "interactive") else queue["pollers"]
        system |= {"ray": None, "unknown": {"ray": "no train worker is running"}}
        route.fulfill(json=system)

    page.route("**/api/v1/system", without_train_worker)
    page.goto("/system")
    expect(page.get_by_role("alert")).to_contain_text("The train worker is not running.")
    expect(page.get_by_text("no worker", exact=True)).to_have_count(3)
    expect(page.get_by_role("main")).to_contain_text("no train worker is running")


def test_a_token_is_made_shown_once_and_revoked(page: Page) -> None:
    page.goto("/system")
    name = f"t-{uuid.uuid4().hex[:6]}"
    page.get_by_role("button", name="Create a token").click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.get_by_label("Token", exact=True)).to_have_value(re.compile("^lanista_"))
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name=f"Revoke {name}").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("button", name=f"Revoke {name}")).to_be_hidden()


def test_files_of_the_api_are_saved_or_shown_with_the_pages_credentials(page: Page, league: League) -> None:
    """A plain link could not send the CSRF token, and the cookie alone opens nothing."""
    page.goto(f"/trials/{league.trial}/matches")
    with page.expect_download() as saved:
        page.get_by_role("link", name="CSV").click()
    assert saved.value.suggested_filename == f"matches-{league.trial}.csv"
    assert saved.value.path().read_text(encoding="utf-8").startswith("id,stream,")
    page.goto(f"/versions/{league.version}")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download").click()
    assert saved.value.path().stat().st_size > 1000
    page.goto(f"/tournaments/{league.tournament}")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Report").click()
    expect(opened.value.get_by_role("heading", name="Cross table")).to_be_visible()
    opened.value.close()
