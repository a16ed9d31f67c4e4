"""One running stack, shared by all tests: each finds it whole, whatever the test before did to it.

A league is trained on it once, for the tests of the page; the browser lives as long as one module of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.e2e.browsing import Watched, open_browser, sign_in
from tests.e2e.leagues import League, train_league
from tests.e2e.stack import LocalStack


@pytest.fixture(scope="session")
def shared_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    local = LocalStack.at(tmp_path_factory.mktemp("stack"))
    local.extra["LANISTA_TRACING"] = "file"  # all else must work as without it, as the other stacks of the tests do
    yield local
    local.down()


@pytest.fixture
def stack(shared_stack: LocalStack) -> LocalStack:
    start_if_down(shared_stack)
    return shared_stack


@pytest.fixture
def rested(shared_stack: LocalStack) -> LocalStack:
    """The stack at rest, with its data."""
    if not shared_stack.home.temporal_db.exists():
        start_if_down(shared_stack)
    shared_stack.down()
    return shared_stack


@pytest.fixture(scope="session")
def league(shared_stack: LocalStack) -> League:
    start_if_down(shared_stack)
    return train_league(shared_stack)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def signed_in(browser: Browser, league: League, shared_stack: LocalStack) -> Iterator[BrowserContext]:
    start_if_down(shared_stack)
    context = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=shared_stack.page)
    context.set_default_timeout(90_000)
    page = context.new_page()
    sign_in(page, shared_stack)
    page.close()
    yield context
    context.close()


@pytest.fixture
def page(stack: LocalStack, signed_in: BrowserContext) -> Iterator[Page]:
    """A page that must not have complained by the end of the test."""
    watched = Watched()
    opened = signed_in.new_page()
    watched.follow(opened)
    yield opened
    opened.close()
    watched.assert_clean()


def start_if_down(stack: LocalStack) -> None:
    state = stack.home.live_state()
    if state is None or not state.ready:
        started = stack.up()
        assert started.returncode == 0, started.stdout + started.stderr
