"""What the page shows while parts of the stack are really killed, hang, or come back."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.e2e.browsing import serious_problems, sign_in
from tests.e2e.leagues import QUICK, League, start, wait_until
from tests.e2e.stack import LocalStack

LONG: dict[str, Any] = {
    **QUICK,
    "game": {"id": "connect_four"},
    "generation": {"steps": 2_000_000, "tables": 64},
    "league": {"preset": "self_play", "players": [{"name": "main", "role": "main"}], "champion_gate": None},
    "budget": {"steps": 50_000_000},
}
"""Generations of many seconds, so that a worker dies in the middle of one."""
SHIFTS = """() => {
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifted += entry.value;
  }).observe({ type: "layout-shift" });
}"""


@pytest.fixture
def page(stack: LocalStack, browser: Browser) -> Iterator[Page]:
    """A page whose own code must not fail; requests to parts that are down may, and the browser logs them."""
    complaints: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            complaints.append(message.text)

    context = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=stack.page)
    context.set_default_timeout(90_000)
    opened = context.new_page()
    opened.on("console", hear)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    sign_in(opened, stack)
    yield opened
    context.close()
    assert complaints == []


@pytest.fixture
def trial(stack: LocalStack) -> Iterator[str]:
    started = start(stack, LONG)
    yield started
    stack.call("POST", f"/trials/{started}/stop", {"mode": "now"})


def trains(stack: LocalStack, trial: str) -> bool:
    generations = stack.call("GET", f"/trials/{trial}/progress")["generations"]
    return any(each["steps"] for each in generations)


def icon(page: Page) -> str:
    return str(page.evaluate("document.querySelector('link[rel=icon]').getAttribute('href')"))


def test_a_killed_api_makes_the_page_stale_until_it_is_back(stack: LocalStack, page: Page) -> None:
    page.goto("/trials")
    connection = page.locator("header #connection")
    expect(connection).to_have_text("● live")
    expect(page).to_have_title(re.compile("Trials · Lanista$"))  # it has its data, and keeps it
    assert page.evaluate("getComputedStyle(document.querySelector('header')).position") == "sticky"
    before = stack.pid("api")
    os.kill(before, signal.SIGSTOP)  # first it hangs, so that the page can be looked at; then it dies
    os.kill(before, signal.SIGKILL)
    expect(connection).to_have_text(re.compile(r"○ stale since \d\d:\d\d, reconnecting …"))
    expect(page).to_have_title("⚠ Trials · Lanista")
    assert icon(page).endswith("/trouble.svg")
    stack.wait_until_whole(newer_than={"api": before})
    expect(connection).to_have_text("● live")
    expect(page).not_to_have_title(re.compile("⚠"))


def test_a_part_that_does_not_answer_is_named(stack: LocalStack, page: Page) -> None:
    page.goto("/trials")
    connection = page.locator("header #connection")
    expect(connection).to_have_text("● live")
    temporal = stack.pid("temporal")
    os.kill(temporal, signal.SIGSTOP)
    try:
        expect(connection).to_contain_text("not working: temporal")
        expect(page).to_have_title("⚠ Trials · Lanista")
        assert serious_problems(page) == []
    finally:
        os.kill(temporal, signal.SIGCONT)
    expect(connection).to_have_text("● live")


def test_a_killed_train_worker_is_a_problem_with_its_attempt_and_lost_steps(
    stack: LocalStack, page: Page, trial: str
) -> None:
    page.goto(f"/trials/{trial}")
    glance = page.get_by_role("list", name="Now")
    expect(glance).to_contain_text("none in the last hour")
    expect(page).to_have_title(re.compile("^▶ "))
    wait_until(lambda: trains(stack, trial))
    expect(glance).to_contain_text(re.compile(r"[\d,]+ steps/s"))
    expect(page.get_by_role("region", name="Trouble now")).to_contain_text("Nothing is in trouble now")
    page.evaluate(SHIFTS)
    stack.kill("train-worker")
    expect(glance).to_contain_text("1 in the last hour")
    expect(page.get_by_role("alert")).to_contain_text("In trouble now: Generation 1 of main: attempt 1 failed")
    expect(page.get_by_role("list", name="Events, newest first")).to_contain_text(
        "Generation 1 of main: attempt 1 failed"
    )
    assert page.evaluate("window.shifted") < 0.01, "trouble comes without moving what is read"
    glance.get_by_role("link", name="1 in the last hour").click()
    row = page.get_by_role("region", name="Problems, newest first").locator("tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("main")
    # the next worker says so, unless it starts more slowly than the heartbeat is missed
    expect(row).to_contain_text(re.compile("the worker was killed|the worker sent no heartbeat in time"))
    (failure,) = stack.call("GET", f"/trials/{trial}/failures")["items"]
    assert failure["attempts"] == 1 and failure["lost_steps"] > 0
    expect(row.locator("td").nth(4)).to_have_text(f"{failure['lost_steps']:,}")
    assert serious_problems(page) == []
    row.get_by_role("link", name="main").first.click()
    expect(page.get_by_label("Player")).to_have_value(failure["player_id"])
    expect(page.get_by_role("region", name="Problems, newest first").locator("tbody tr")).to_have_count(1)


def test_the_tab_says_whether_a_trial_runs_or_is_paused(stack: LocalStack, page: Page, trial: str) -> None:
    wait_until(lambda: bool(stack.call("GET", f"/trials/{trial}")["status"] == "running"))
    page.goto(f"/trials/{trial}")
    expect(page).to_have_title(re.compile("^▶ "))
    assert icon(page).endswith("/running.svg")
    stack.call("POST", f"/trials/{trial}/pause")
    expect(page).to_have_title(re.compile("^⏸ "))
    assert icon(page).endswith("/paused.svg")


def test_the_speed_is_the_same_in_the_list_on_the_page_and_in_the_command_line(
    stack: LocalStack, page: Page, trial: str
) -> None:
    """The speed grows while the first steps are made, and the page reads it every few seconds; so each is compared with
    the API's before and after it, until they agree."""
    wait_until(lambda: trains(stack, trial))

    def on_page() -> str:
        page.goto(f"/trials/{trial}")
        return page.get_by_role("list", name="Now").get_by_text(re.compile("steps/s over the last")).inner_text()

    def in_list() -> str:
        page.goto("/trials")
        row = page.locator("li", has=page.locator(f'a[href="/trials/{trial}"]'))
        return row.get_by_text(re.compile("steps/s")).inner_text()

    def printed() -> str:
        return stack.lanista("trial", "show", trial).stdout

    def agrees(shown: Callable[[], str]) -> bool:
        before = speed_of(stack, trial)
        found = speed_in(shown())
        after = speed_of(stack, trial)
        return 0.9 * min(before, after) <= found <= 1.1 * max(before, after)

    for shown in (on_page, in_list, printed):
        wait_until(partial(agrees, shown), patience=60)


def speed_of(stack: LocalStack, trial: str) -> float:
    return float(stack.call("GET", f"/trials/{trial}/progress")["speed"]["steps_per_second"])


def speed_in(text: str) -> int:
    found = re.search(r"([\d,]+) steps/s", text)
    assert found, text
    return int(found[1].replace(",", ""))


def test_an_unknown_address_is_told_by_the_page_and_not_in_json(stack: LocalStack, page: Page) -> None:
    answer = page.goto("/nowhere")
    assert answer is not None and answer.status == 404
    expect(page.get_by_role("main")).to_contain_text("No page has the address /nowhere")
    page.goto("/trials/not-an-id")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_text("Nothing has this address: a part of it is not an id.")


def test_times_and_fields_are_told_as_people_say_them(page: Page) -> None:
    told = page.evaluate(
        """async () => {
          const { duration, versionName } = await import("/static/core/format.js");
          const { Problem } = await import("/static/core/api.js");
          const errors = [{ field: "body.spec.entrants[1]", message: "no such player" }];
          const names = [versionName("main-3", 0), versionName("main", 0)];
          return [duration(359.7), duration(300), ...names, new Problem(422, { errors }).message];
        }"""
    )
    assert told == ["6 min", "5 min", "main-3", "main v0", "entrants 2: no such player"]


def test_the_list_of_tournaments_hides_evaluations_unless_asked_for(
    stack: LocalStack, page: Page, league: League
) -> None:
    page.goto("/tournaments")
    expect(page.get_by_label("Started by")).to_have_value("")
    rows = page.get_by_role("region", name="Tournaments").locator("tbody tr")
    expect(rows.first).to_contain_text("a person")
    page.get_by_label("Search").fill("no tournament is called so")
    expect(page.get_by_role("heading", name="No matching tournaments")).to_be_visible()
    assert serious_problems(page) == []


def test_the_system_over_time_and_its_logs_are_shown(stack: LocalStack, page: Page) -> None:
    wait_until(lambda: bool(stack.call("GET", "/system/history")["at"]))
    page.goto("/system?log=api")
    hour = page.get_by_role("region", name="The last hour")
    expect(hour.get_by_role("img", name=re.compile("^CPU: now"))).to_be_visible()
    expect(hour.get_by_role("img", name=re.compile("^Queue train: now"))).to_be_visible()
    log = page.get_by_role("log", name="Log of api")
    expect(log).to_contain_text("Application startup complete")
    assert stack.home.admin_token.read_text().strip() not in log.inner_text()
    expect(page.get_by_role("region", name="What waits")).to_be_visible()
    assert serious_problems(page) == []
