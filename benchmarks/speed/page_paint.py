"""How soon each page of the web page paints, and how soon a heat map and a lineage of 300 players can be used.

Cold: a new browser and a freshly started API. Warm: a browser that keeps the page open.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import BrowserContext, Page, sync_playwright

from benchmarks.stacks.large_league import make_large_league
from benchmarks.stacks.large_lineage import grow_lineage
from benchmarks.stacks.local_stack import LocalStack, local_stack
from lanista.stack.control import reach

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
Times = dict[str, dict[str, int]]
SHOWN = "performance.getEntriesByName('lanista-shown')[0]?.startTime"
"""The page marks when it has been painted with its data, maps included; Plotly's charts come after."""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
HEADING = "main h1"
DRAWN = {"payoff": "[data-keep=payoff][data-drawn=yes]", "lineage": "[data-keep=lineage][data-drawn=yes]"}
"""What must be drawn before the page can be used, where its heading is not enough."""


def addresses(trial: str, version: str) -> dict[str, str]:
    """Every page with content for a large league."""
    root = f"/trials/{trial}"
    return {
        "trials": "/trials",
        "start a trial": "/trials/new",
        "trial": root,
        "metrics": f"{root}/metrics",
        "payoff, 300 players": f"{root}/payoff",
        "matchmaking": f"{root}/matchmaking",
        "lineage, 300 players": f"{root}/lineage",
        "promotions": f"{root}/promotions",
        "matches": f"{root}/matches",
        "version": f"/versions/{version}",
        "tournaments": "/tournaments",
        "schedules": "/schedules",
        "system": "/system",
    }


@contextmanager
def signed_in(url: str, token: str) -> Iterator[BrowserContext]:
    """A browser that has signed in through the form."""
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        if chromium is None:
            raise SystemExit("this measurement needs Chromium: apt-get install chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        context = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900})
        page = context.new_page()
        page.goto("/")
        page.get_by_label("Sign in with a token").fill(token)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="Sign out").wait_for()
        page.close()
        yield context
        browser.close()


def visit(context: BrowserContext, address: str, ready: str) -> tuple[float, float]:
    """Milliseconds from the navigation to the first paint, and to the one that shows what is named by `ready`."""
    page: Page = context.new_page()
    page.goto(address, wait_until="commit")
    page.locator(ready).first.wait_for()
    while (shown := page.evaluate(SHOWN)) is None:
        page.wait_for_timeout(20)
    paint = page.evaluate(PAINT)
    page.close()
    return float(paint), float(shown)


def ready_of(name: str) -> str:
    return DRAWN.get(name.partition(",")[0], HEADING)


def measure_warm(url: str, token: str, pages: dict[str, str], repeats: int) -> Times:
    """Medians over visits of one browser."""
    found: Times = {}
    with signed_in(url, token) as context:
        for name, address in pages.items():
            seen = [visit(context, address, ready_of(name)) for _ in range(repeats)]
            paint, whole = (statistics.median(times) for times in zip(*seen, strict=True))
            found[name] = {"first_paint": round(paint), "ready": round(whole)}
    return found


def measure_cold(stack: LocalStack, token: str, pages: dict[str, str]) -> Times:
    """The first visit of a new browser to an API that has answered nothing yet but its sign-in."""
    found: Times = {}
    for name, address in pages.items():
        stack.down()
        stack.up()
        with signed_in(f"http://127.0.0.1:{stack.port}", token) as context:
            paint, whole = visit(context, address, ready_of(name))
        found[name] = {"first_paint": round(paint), "ready": round(whole)}
    return found


def show(title: str, times: Times) -> None:
    print(f"{title:24} {'first paint':>12} {'ready':>8}   (ms)")
    for name, found in times.items():
        print(f"{name:24} {found['first_paint']:12} {found['ready']:8}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--repeats", type=int, default=5, help="visits of each page with a warm cache")
    parser.add_argument("--cold", nargs="*", default=["payoff", "lineage", "trial"], help="pages to measure cold")
    arguments = parser.parse_args()
    with local_stack() as stack:
        url = reach(stack.home)["LANISTA_DATABASE_URL"].replace("+psycopg", "")
        league = make_large_league(url)
        grow_lineage(url, league)
        token = stack.home.admin_token.read_text().strip()
        pages = addresses(league.trial, league.versions[5])
        chosen = {name: address for name, address in pages.items() if name.partition(",")[0] in arguments.cold}
        cold = measure_cold(stack, token, chosen)
        warm = measure_warm(f"http://127.0.0.1:{stack.port}", token, pages, arguments.repeats)
    if arguments.json:
        print(json.dumps({"cold_ms": cold, "warm_ms": warm}))
        return
    show("cold", cold)
    show("warm", warm)


if __name__ == "__main__":
    main()
