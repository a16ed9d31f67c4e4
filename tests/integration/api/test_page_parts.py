"""A part of a page that cannot be read shows its error in its place; the rest of the page stays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from api.schemas.enums import Scope
from api.store.tables import Match
from tests.e2e.browsing import open_browser, serious_problems
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.server import Served
from tests.integration.api.test_page_trials import signed_in

FRAME = re.compile("/api/v1/(session|events|system/silent)$|/events$")
"""What every page asks for: who is signed in, the stream, and which parts of the installation do not work."""
PROBLEM = {"title": "Internal error", "status": 500, "detail": "the table is locked by a backup."}
SAID = re.compile("could not be read: the table is locked by a backup")

PAGES = {
    "/trials": ("/api/v1/trials$", "/(progress|ratings)$|/versions/|/trials/[0-9a-f-]{{36}}$"),
    "/trials/{trial}": ("/trials/{trial}$", None),
    "/trials/{trial}/metrics": ("/trials/{trial}$|/metrics", "/ratings$|/players$"),
    "/trials/{trial}/payoff?row={player}&column={rival}": ("/trials/{trial}$|/payoff$", "/versions/"),
    "/trials/{trial}/lineage": ("/trials/{trial}$|/players$|/versions$", None),
    "/trials/{trial}/promotions": ("/trials/{trial}$", "/versions/|/trials/"),
    "/trials/{trial}/matches": ("/trials/{trial}$", "/versions/|/people-games/counts$"),
    "/trials/{trial}/problems": ("/trials/{trial}$", None),
    "/players/{player}": ("/players/{player}$|/trials/{trial}$", None),
    "/versions/{version}": ("/versions/{version}$|/trials/{trial}$", None),
    "/versions/{version}/against/{other}": ("/versions/({version}|{other})|/trials/{trial}$", None),
    "/tournaments": ("/tournaments$", "/standings$"),
    "/sweeps": ("/sweeps$", None),
    "/schedules": ("/schedules$", None),
    "/alerts": ("^$", "/alerts/(rules|deliveries)$"),  # not shown without a channel
    "/compare?trials={trial},{second}": ("^$", None),
    "/system": ("^$", "/system/logs/"),
}
"""For each page what it is nothing without, and what it does without in silence."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def ids(api: Served) -> dict[str, str]:
    league, second = readable_league(api.sessions), readable_league(api.sessions)
    version, other = (league.league.version_of(name) for name in ("main", "rival"))
    return {
        "trial": league.trial_id,
        "second": second.trial_id,
        "version": version.id,
        "other": other.id,
        "player": version.player_id,
        "rival": other.player_id,
        "match": str(newest_match(api, league)),
    }


def newest_match(api: Served, league: ReadableLeague) -> int:
    with api.sessions() as session:
        return session.get_one(Match, league.match_ids[-1]).id


@pytest.fixture(scope="module")
def as_admin(api: Served, browser: Browser) -> Iterator[BrowserContext]:
    with signed_in(api, browser, Scope.ADMIN) as context:
        yield context


@pytest.fixture
def page(as_admin: BrowserContext) -> Iterator[Page]:
    """A page whose own code must not fail; the requests that a test lets fail may."""
    complaints: list[str] = []
    opened = as_admin.new_page()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    opened.close()
    assert complaints == []


def questions(page: Page, address: str) -> list[str]:
    """The paths that a page asks the API for, each once."""
    asked: set[str] = set()

    def note(request_url: str) -> None:
        path = urlsplit(request_url).path
        if path.startswith("/api/v1/") and not FRAME.search(path):
            asked.add(path)

    page.on("request", lambda request: note(request.url))
    page.goto(address)
    expect(page.locator("main h1").first).to_be_visible()
    page.wait_for_load_state("load")
    page.wait_for_function("performance.getEntriesByName('lanista-shown').length > 0")
    page.wait_for_timeout(300)
    return sorted(asked)


def fails(route: Route) -> None:
    route.fulfill(status=500, content_type="application/problem+json", json=PROBLEM)


@pytest.mark.parametrize("address", PAGES)
def test_a_part_that_cannot_be_read_says_so_and_the_page_stays(page: Page, ids: dict[str, str], address: str) -> None:
    essential, silent = (None if each is None else re.compile(each.format(**ids)) for each in PAGES[address])
    assert essential is not None
    asked = [path for path in questions(page, address.format(**ids)) if not essential.search(path)]
    heading = page.locator("main h1").first.inner_text()
    missing = []
    for path in asked:
        pattern = re.compile(re.escape(path) + r"(\?|$)")
        page.route(pattern, fails)
        page.goto(address.format(**ids))
        expect(page.locator("main h1").first).to_have_text(heading)
        if silent is None or not silent.search(path):
            try:
                expect(page.get_by_role("main").get_by_text(SAID).first).to_be_visible(timeout=20_000)
            except AssertionError:
                missing.append(path)
        page.unroute(pattern)
    assert missing == []
    assert serious_problems(page) == []


def test_a_part_is_asked_for_again_and_shown_in_the_place_of_its_error(page: Page, ids: dict[str, str]) -> None:
    ratings = re.compile(rf"/trials/{ids['trial']}/ratings")
    page.route(ratings, fails)
    page.goto(f"/trials/{ids['trial']}")
    card = page.get_by_role("region", name="Rating over steps")
    expect(card.get_by_text(SAID).first).to_be_visible()
    expect(page.get_by_role("list", name="Now")).to_be_visible()
    expect(page.locator("header #connection")).to_have_text("● live")
    page.unroute(ratings)
    expect(card.get_by_role("img", name="Elo over steps")).to_be_visible()
    expect(page.get_by_role("main").get_by_text(SAID)).to_have_count(0)


def test_projects_in_lists_of_trials_are_links(page: Page, ids: dict[str, str]) -> None:
    for kind in ("", "table"):
        page.goto(f"/trials?view={kind}")
        project = page.get_by_role("main").locator("a[href*='project=']").first
        name = project.inner_text()
        project.click()
        expect(page.get_by_label("Project")).to_have_value(name)


def test_the_whole_page_is_an_error_only_where_it_is_nothing_without_the_part(page: Page, ids: dict[str, str]) -> None:
    page.route(re.compile(rf"/api/v1/trials/{ids['trial']}$"), fails)
    page.goto(f"/trials/{ids['trial']}")
    expect(page.get_by_role("alert")).to_have_text(PROBLEM["detail"])
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
