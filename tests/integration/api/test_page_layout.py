"""What fits on the page: counts in small cells, all columns of the workers, banners that move nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from api.schemas.enums import Scope
from tests.e2e.browsing import open_browser
from tests.integration.api.league import readable_league
from tests.integration.api.server import Served
from tests.integration.api.test_page_trials import signed_in

SYSTEM = re.compile("/api/v1/system$")
SHIFTS = """() => {
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifted += entry.value;
  }).observe({ type: "layout-shift" });
}"""
HEARD = """
  window.written = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
    window.written.push(text);
    return fillText.call(this, text, ...where);
  };
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def page(api: Served, browser: Browser) -> Iterator[Page]:
    with signed_in(api, browser, Scope.ADMIN) as context:
        context.set_default_timeout(90_000)
        yield context.new_page()


def of_many(found: dict[str, Any], count: int) -> dict[str, Any]:
    """The answer as it would be with so many players, each pair of which has met 123 or 4567 times."""
    one = found["players"][0]
    players = [{**one, "id": f"{one['id'][:-3]}{place:03}", "name": f"main-{place}"} for place in range(count)]

    def square(value: Any, other: Any = None) -> list[list[Any]]:
        return [
            [None if row == column else value if row or other is None else other for column in range(count)]
            for row in range(count)
        ]

    games = {"wins": square(100, 4500), "draws": square(3, 7), "losses": square(20, 60)}
    rates = {"win_rate": square(0.82), "low": square(0.75), "high": square(0.88), "mean_return": square(None)}
    return {**found, "players": players, **games, **rates}


@pytest.mark.parametrize(
    ("players", "width", "told"),
    [
        (5, 1280, {"82 %", "123 g", "4.6K g"}),
        (25, 1280, {"123", "4.6K"}),
        (25, 1440, {"123", "4.6K"}),
        (300, 1280, set()),
    ],
)
def test_a_cell_of_the_heat_map_tells_its_games_where_there_is_room(
    api: Served, page: Page, players: int, width: int, told: set[str]
) -> None:
    trial = readable_league(api.sessions).trial_id

    def grown(route: Route) -> None:
        route.fulfill(json=of_many(route.fetch().json(), players))

    page.add_init_script(HEARD)
    page.set_viewport_size({"width": width, "height": 900})
    page.route(re.compile(rf"/trials/{trial}/payoff\?"), grown)
    page.goto(f"/trials/{trial}/payoff")
    heat_map = page.get_by_role("application", name=re.compile("^Win rates"))
    expect(heat_map).to_have_attribute("data-drawn", "yes")
    written = {text for text in page.evaluate("window.written") if not text.startswith("main-")}
    assert {text for text in written if re.search(r"\d", text) and "…" not in text} == told
    heat_map.focus()
    heat_map.press("ArrowDown")
    expect(heat_map.get_by_role("status")).to_contain_text("4,500 won, 7 drawn, 60 lost")
    assert not [text for text in page.evaluate("window.written") if "…" in text], "nor is a name cut that is marked"


def workers_of(count: int, *, gone: bool) -> list[dict[str, Any]]:
    return [
        {
            "identity": f"store-worker@a-rather-long-host-name-{place}.cluster.example.org:1234567:{place:032}",
            "queue": queue,
            "last_seen": "2030-01-01T12:00:00Z",
            "gone": gone,
        }
        for place in range(count)
        for queue in ("league", "store", "interactive")
    ]


@pytest.mark.parametrize("width", [1280, 1440])
@pytest.mark.parametrize("gone", [False, True])
def test_no_column_of_the_workers_is_cut(page: Page, width: int, gone: bool) -> None:
    def long(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "workers": workers_of(2, gone=gone), "unknown": {}})

    page.set_viewport_size({"width": width, "height": 900})
    page.route(SYSTEM, long)
    page.goto("/system")
    workers = page.get_by_role("region", name="Worker processes")
    expect(workers.get_by_role("row")).to_have_count(3)
    assert workers.evaluate("(table) => table.scrollWidth - table.clientWidth") <= 0
    heading, inside = workers.get_by_role("columnheader", name="Last poll").bounding_box(), workers.bounding_box()
    assert heading and inside and heading["x"] + heading["width"] <= inside["x"] + inside["width"] + 1


@pytest.mark.parametrize("width", [390, 1280])
def test_a_worker_that_goes_away_is_told_without_moving_the_page(page: Page, width: int) -> None:
    pollers = {"count": 1}

    def counted(route: Route) -> None:
        found = route.fetch().json()
        names = ("league", "store", "train", "play", "interactive")
        one = {"pollers": pollers["count"], "backlog": 0, "backlog_age_seconds": 0.0}
        route.fulfill(json={**found, "queues": [{"name": name, **one} for name in names]})

    page.set_viewport_size({"width": width, "height": 900})
    page.route(SYSTEM, counted)
    page.goto("/system")
    card = page.get_by_role("region", name="Queues").first
    expect(card).to_contain_text("Every queue has a worker")
    page.wait_for_timeout(500)
    before = card.bounding_box()
    page.evaluate(SHIFTS)
    pollers["count"] = 0
    expect(card.get_by_role("alert")).to_contain_text("The store worker and the train worker are not running")
    page.wait_for_timeout(200)
    after = card.bounding_box()
    assert before and after and before["height"] == after["height"]
    assert page.evaluate("window.shifted") < 0.01
    words = card.get_by_role("alert").evaluate("(place) => place.scrollHeight - place.clientHeight")
    assert words <= 0, "all of it can be read without scrolling"


@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_word_in_an_error_stays_in_its_card(api: Served, page: Page, width: int) -> None:
    league = readable_league(api.sessions)
    detail = f"artifact file:///{'0123456789abcdef' * 8} is missing (sha256 {'0123456789abcdef' * 4})"
    problem = {"title": "Conflict", "status": 409, "detail": detail}

    def refused(route: Route) -> None:
        route.fulfill(status=409, content_type="application/problem+json", json=problem)

    page.set_viewport_size({"width": width, "height": 900})
    page.route(re.compile(r"/replay\?.*annotate="), refused)
    page.goto(f"/matches/{league.match_ids[-1]}")
    card = page.get_by_role("region", name="Policy and value")
    expect(card.get_by_role("alert")).to_contain_text("is missing")
    expect(card.get_by_text("A bot has no policy to show.")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def test_a_count_of_one_has_its_noun_in_the_singular(page: Page) -> None:
    page.goto("/schedules")
    counted = """async () => {
      const { counted } = await import("/static/core/format.js");
      return [0, 1, 1234].map((count) => counted(count, "game"));
    }"""
    assert page.evaluate(counted) == ["0 games", "1 game", "1,234 games"]
