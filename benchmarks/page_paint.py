"""How soon each page of the web page paints, and how soon a heat map of 300 players can be used."""

from __future__ import annotations

import argparse
import shutil
import statistics
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import BrowserContext, Page, sync_playwright

from benchmarks.api_league import make_large_league
from benchmarks.local_stack import local_stack
from lanista.stack.remote import reach

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
HEADING = "main h1"
DRAWN = "[data-keep=payoff][data-drawn=yes]"


def addresses(trial: str, version: str) -> dict[str, str]:
    """Every page that a large league has something to show on."""
    root = f"/trials/{trial}"
    return {
        "trials": "/trials",
        "start a trial": "/trials/new",
        "trial": root,
        "payoff, 300 players": f"{root}/payoff",
        "matchmaking": f"{root}/matchmaking",
        "lineage": f"{root}/lineage",
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
    """Milliseconds to the first paint, and until what is named by `ready` is there, from the navigation on."""
    page: Page = context.new_page()
    page.goto(address, wait_until="commit")
    page.locator(ready).first.wait_for()
    found = page.evaluate("performance.now()"), page.evaluate(PAINT)
    page.close()
    return float(found[1]), float(found[0])


def measure(url: str, token: str, trial: str, version: str, repeats: int) -> None:
    """Print a table: medians over visits with a warm cache, as for somebody who leaves the page open."""
    with signed_in(url, token) as context:
        print(f"{'page':24} {'first paint':>12} {'with its data':>14}   (median of {repeats}, ms)")
        for name, address in addresses(trial, version).items():
            ready = DRAWN if name.startswith("payoff") else HEADING
            seen = [visit(context, address, ready) for _ in range(repeats)]
            paint, whole = (statistics.median(times) for times in zip(*seen, strict=True))
            print(f"{name:24} {paint:12.0f} {whole:14.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    with local_stack() as stack:
        league = make_large_league(reach(stack.home)["LANISTA_DATABASE_URL"].replace("+psycopg", ""))
        token = stack.home.admin_token.read_text().strip()
        measure(f"http://127.0.0.1:{stack.port}", token, league.trial, league.versions[5], arguments.repeats)


if __name__ == "__main__":
    main()
