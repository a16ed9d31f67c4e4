"""A shared link in a real browser: one request, nothing else; readable on a phone, in light and dark."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser

from tests.e2e.browsing import Watched, open_browser, serious_problems
from tests.integration.api.league import readable_league
from tests.integration.api.server import Served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


def test_a_shared_link_makes_one_request_and_fits_a_phone(
    api: Served, operator: httpx.Client, browser: Browser
) -> None:
    league = readable_league(api.sessions)
    path = operator.post("/api/v1/shares", json={"trial_id": league.trial_id}).json()["path"]
    report = operator.get(f"/api/v1/trials/{league.trial_id}/report").text
    for scheme in ("light", "dark"):
        narrow = {"width": 390, "height": 844}
        context = browser.new_context(viewport=narrow, base_url=api.base, color_scheme=scheme)  # type: ignore[arg-type]
        context.set_default_timeout(90_000)
        watched, requests = Watched(), list[str]()
        page = context.new_page()
        watched.follow(page)
        page.on("request", lambda request, requests=requests: requests.append(request.url))  # type: ignore[misc]
        page.goto(path)
        page.get_by_role("heading", name="Rating over steps").wait_for()
        assert requests == [api.base + path]
        watched.assert_clean()
        # a sandboxed document runs no script, so its width and accessibility are looked at in the same report as a file
        page.goto("about:blank")
        page.set_content(report)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert serious_problems(page) == []
        context.close()
