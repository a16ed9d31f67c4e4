"""The page in a real browser: nothing fails, nothing leaves the machine, and it fits wide and narrow windows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
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


@dataclass
class Watched:
    """What the browser complained about and where it went."""

    complaints: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def follow(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url}"))
        page.on("response", self._response)
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console: {message.text}")

    def _response(self, response: Response) -> None:
        if not response.ok:
            self.complaints.append(f"{response.status}: {response.url}")

    def _request(self, request: Request) -> None:
        self.hosts.add(urlsplit(request.url).hostname or "")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    assert chromium, "the browser tests need Chromium: `make test` installs it, or says how"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.mark.parametrize("width", [1280, 360], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_shows_every_part_without_a_complaint(
    stack: LocalStack, browser: Browser, scheme: str, width: int, tmp_path: Path
) -> None:
    watched = Watched()
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})  # type: ignore[arg-type]
    watched.follow(page)
    page.goto(stack.page)
    expect(page.get_by_role("status")).to_have_text("All parts are ready.")
    for part in ("postgres", "temporal", "ray"):
        expect(page.locator(f'[data-part="{part}"] .state')).to_have_text("ready")
    expect(page.get_by_label("Sign in with a token")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing may stick out sideways"
    page.screenshot(path=tmp_path / "page.png", full_page=True)
    page.close()
    assert watched.complaints == []
    assert watched.hosts == {"127.0.0.1"}


def test_signing_in_shows_the_link_to_tensorboard(stack: LocalStack, browser: Browser) -> None:
    watched = Watched()
    page = browser.new_page()
    watched.follow(page)
    page.goto(stack.page)
    page.get_by_label("Sign in with a token").fill(stack.home.admin_token.read_text())
    page.get_by_role("button", name="Sign in").click()
    link = page.get_by_role("link", name="TensorBoard")
    expect(link).to_be_visible()
    page.reload()
    expect(link).to_be_visible()
    expect(page.get_by_role("button", name="Sign in")).to_be_hidden()
    assert watched.complaints == []
    address = link.get_attribute("href")
    assert address is not None
    page.goto(address)
    expect(page).to_have_title("TensorBoard")
    page.close()
    assert watched.hosts == {"127.0.0.1"}


def test_a_wrong_token_is_refused_in_words(stack: LocalStack, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(stack.page)
    page.get_by_label("Sign in with a token").fill("lanista_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("unknown, expired or revoked")
    page.close()
