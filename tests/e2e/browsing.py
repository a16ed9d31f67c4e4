"""A real browser that writes down whatever a page complains about and wherever it goes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response, expect, sync_playwright

from tests.e2e.stack import LocalStack

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

expect.set_options(timeout=90_000)  # patience with a busy machine; nothing here waits for a time to pass


@dataclass
class Watched:
    """What the browser complained about and where it went."""

    complaints: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def follow(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("requestfailed", self._failed)
        page.on("response", self._response)
        page.on("request", self._request)

    def assert_clean(self) -> None:
        """Nothing failed, and nothing left the machine."""
        assert self.complaints == []
        assert self.hosts <= {"127.0.0.1", ""}, "data: addresses have no host; every other one is this machine"

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not _is_expected(message.text, message.location.get("url", "")):
            self.complaints.append(f"console: {message.text}")

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # a page that is left ends its event stream and what it waited for
            self.complaints.append(f"failed: {request.url}: {request.failure}")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and not _is_expected(str(response.status), response.url):
            self.complaints.append(f"{response.status}: {response.url}")

    def _request(self, request: Request) -> None:
        self.hosts.add(urlsplit(request.url).hostname or "")


def _is_expected(problem: str, url: str) -> bool:
    """Whether the page handles it: a part that is down, or a schedule deleted since the page read the list."""
    deleted = "404" in problem and re.search(r"/api/v1/schedules/[0-9a-f-]{36}$", url)
    return _asks_for_health(url) or bool(deleted)


def _asks_for_health(address: str) -> bool:
    """The sign-in page asks whether all parts are ready, and shows it when one is not."""
    return address.endswith("/readyz")


def serious_problems(page: Page) -> list[str]:
    """What axe finds on the page that keeps somebody out."""
    found = Axe().run(page).response["violations"]
    return [
        f"{page.url}: {each['id']} {each['nodes'][0]['html']}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


@contextmanager
def open_browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    assert chromium, "the browser tests need Chromium: `make test` installs it, or says how"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS, timeout=120_000)
        yield opened
        opened.close()


def sign_in(page: Page, stack: LocalStack) -> None:
    """Through the form, as a person does: once more where the database, which a test has just hit, did not answer."""
    page.goto(stack.page)
    page.get_by_label("Sign in with a token").fill(stack.home.admin_token.read_text())
    page.get_by_role("button", name="Sign in").click()
    inside = page.get_by_role("button", name="Sign out")
    refused = page.get_by_role("alert").filter(has_text="try again")
    expect(inside.or_(refused).first).to_be_visible()
    if refused.is_visible():
        page.get_by_role("button", name="Sign in").click()
    expect(inside).to_be_visible()
    expect(page.get_by_label("Sign in with a token")).to_have_count(0)  # the form stays until the page is there
