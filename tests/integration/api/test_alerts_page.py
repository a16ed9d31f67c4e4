"""Alerts on the page, in a real browser: a channel, a rule, a message that arrives when its receiver is back."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import structlog
from playwright.sync_api import Browser, Page, expect

from api.alerts.delivery import AlertDelivery
from api.schemas.enums import Scope
from tests.e2e.browsing import Watched, open_browser, serious_problems
from tests.integration.api.receiver import Receiver
from tests.integration.api.server import Served, running_api
from tests.integration.api.test_alerts import LOCAL

log = structlog.get_logger()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@contextmanager
def delivering(served: Served) -> Iterator[None]:
    """The loop of the store worker."""
    over, delivery = threading.Event(), AlertDelivery(served.sessions, served.settings)

    def run() -> None:
        while not over.wait(0.2):
            try:
                delivery.tick()
            except Exception as error:  # as in AlertDelivery.run
                log.warning("alerts are tried again", error=repr(error))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        delivery.close()


def sign_in(page: Page, served: Served) -> None:
    page.goto("/")
    page.get_by_label("Sign in with a token").fill(served.tokens[Scope.ADMIN])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_a_channel_is_added_tested_and_shown_while_its_receiver_is_down(
    api_database: str, temporal_address: str, artifacts: Path, browser: Browser
) -> None:
    receiver, watched = Receiver(), Watched()
    with running_api(api_database, temporal_address, artifacts, **LOCAL) as served, delivering(served):
        context = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=served.base)
        context.set_default_timeout(90_000)
        page = context.new_page()
        watched.follow(page)
        sign_in(page, served)
        page.goto("/alerts")
        expect(page.get_by_role("heading", name="No channels")).to_be_visible()
        page.get_by_role("button", name="Add a channel").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("local")
        dialog.get_by_label("Address").fill(receiver.url)
        dialog.get_by_role("button", name="Add").click()
        expect(dialog.get_by_label("Secret")).to_have_value(re.compile("^whsec_"))
        dialog.get_by_role("button", name="Done").click()
        page.get_by_role("button", name="Add a rule").click()
        dialog.get_by_label("new champion").check()
        assert serious_problems(page) == []
        dialog.get_by_role("button", name="Add").click()
        main = page.get_by_role("main")
        expect(main).to_contain_text("trial failed, new champion")
        page.get_by_role("button", name="Test local").click()
        expect(main).to_contain_text("127.0.0.1 did not answer")
        assert serious_problems(page) == []
        receiver.start()
        try:
            expect(main.locator(".badge[data-status=delivered]")).to_be_visible()
            assert [request.json["kind"] for request in receiver.once.values()] == ["test"]
        finally:
            receiver.stop()
        expect(main).not_to_contain_text("did not answer")
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.get_by_role("button", name="Delete local").click()
        dialog.get_by_role("button", name="Delete").click()
        expect(page.get_by_role("heading", name="No channels")).to_be_visible()
        context.close()
    watched.assert_clean()
