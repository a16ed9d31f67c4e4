"""Alerts on the page: a channel, a rule, a message that arrives when its receiver is back, refusals in words."""

from __future__ import annotations

import os
import re
import signal

from playwright.sync_api import Page, expect

from tests.e2e.browsing import serious_problems
from tests.e2e.leagues import wait_until
from tests.e2e.stack import LocalStack
from tests.integration.api.receiver import Receiver


def add_channel(page: Page, name: str, address: str) -> None:
    page.get_by_role("button", name="Add a channel").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("Address").fill(address)
    dialog.get_by_role("button", name="Add").click()


def test_a_channel_is_added_tested_and_shown_while_its_receiver_is_down(page: Page, stack: LocalStack) -> None:
    receiver = Receiver()
    page.goto("/alerts")
    expect(page.get_by_role("heading", name="No channels")).to_be_visible()
    add_channel(page, "local", receiver.url)
    secret = page.get_by_role("dialog").get_by_label("Secret")
    assert secret.input_value().startswith("whsec_")
    page.get_by_role("dialog").get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Add a rule").click()
    page.get_by_role("dialog").get_by_label("new champion").check()
    assert serious_problems(page) == []
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(page.get_by_role("region", name="Rules").last).to_contain_text("trial failed, new champion")
    page.get_by_role("button", name="Test local").click()
    channels = page.get_by_role("region", name="Channels").last
    expect(channels).to_contain_text(re.compile(r"failed.*127\.0\.0\.1 did not answer", re.IGNORECASE))
    assert serious_problems(page) == []
    os.kill(stack.pid("store-worker"), signal.SIGKILL)  # the message outlives its sender
    receiver.start()
    try:
        messages = page.get_by_role("region", name="Messages").last
        expect(messages).to_contain_text(re.compile("delivered", re.IGNORECASE), timeout=240_000)
        expect(channels).not_to_contain_text("did not answer")
        assert [request.json["kind"] for request in receiver.once.values()] == ["test"]
        wait_until(lambda: stack.home.live_state() is not None)
    finally:
        receiver.stop()
    assert serious_problems(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Delete local").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No channels")).to_be_visible()
