"""Draw the pictures of the page in docs/images, light and dark, of a league that is trained for it."""

from __future__ import annotations

import argparse
import io
import time
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from playwright.sync_api import Page, ViewportSize

from benchmarks.speed.page_paint import signed_in
from benchmarks.stacks.local_stack import LocalStack, local_stack

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SIZE: ViewportSize = {"width": 1280, "height": 860}
FURTHER_DOWN = {"knockout": "section[aria-label=Bracket] h2"}
"""The element to scroll to, for pictures that should not show the top of their page."""
GLIMPSE = 0.6
"""The share of the budget that is used when the page of the running trial is drawn."""
LEAGUE: dict[str, Any] = {
    "seed": 7,
    "game": {"id": "connect_four"},
    "model": {"id": "mlp", "hidden": [64, 64]},
    "league": {
        "preset": "alphastar",
        "players": [
            {"name": "main", "role": "main"},
            {"name": "main-exploiter", "role": "main_exploiter"},
            {"name": "league-exploiter", "role": "league_exploiter"},
            {"name": "random", "role": "bot", "bot": "random"},
        ],
        "snapshot": {"min_steps": 300_000, "win_rate": 0.7, "max_steps": 600_000},
        "champion_gate": {"test": "sprt", "elo0": 0, "elo1": 35, "max_pairs": 400},
    },
    "generation": {"steps": 150_000, "tables": 256},
    "evaluation": {"every_generations": 2, "games": 40},
    "budget": {"steps": 9_000_000},
}


def start_league(stack: LocalStack) -> str:
    """Start a league; returns when enough of it can be seen."""
    made = stack.call("POST", "/trials", {"project": "connect-four", "name": "alphastar", "spec": LEAGUE})
    trial = str(made["id"])
    while stack.call("GET", f"/trials/{trial}")["steps"] < GLIMPSE * LEAGUE["budget"]["steps"]:
        time.sleep(1)
    return trial


def finish_league(stack: LocalStack, trial: str) -> dict[str, str]:
    """Wait for the league's end, hold tournaments, and name the pages that are worth a picture."""
    _wait(stack, f"/trials/{trial}")
    held = {form: _tournament(stack, form) for form in ("round_robin", "knockout")}
    root = f"/trials/{trial}"
    champion = stack.call("GET", "/projects/connect-four/aliases/champion?game=connect_four")["version_id"]
    return {
        "trials": "/trials",
        "payoff": f"{root}/payoff",
        "matchmaking": f"{root}/matchmaking",
        "lineage": f"{root}/lineage",
        "promotions": f"{root}/promotions",
        "tournament": f"/tournaments/{held['round_robin']}",
        "knockout": f"/tournaments/{held['knockout']}",
        "replay": f"/matches/{_long_game(stack, trial, champion)}?ply=9",
        "system": "/system",
    }


def _tournament(stack: LocalStack, form: str) -> str:
    spec = {
        "trial": "alphastar",
        "name": form.replace("_", "-"),
        "format": form,
        "entrants": ["latest", "snapshots", "bots"],
        "games": 20,
    }
    tournament = str(stack.call("POST", "/tournaments", {"project": "connect-four", "spec": spec})["id"])
    _wait(stack, f"/tournaments/{tournament}")
    return tournament


def _long_game(stack: LocalStack, trial: str, version: str) -> int:
    """The longest game of the champion, except those against `random`."""
    games = stack.call("GET", f"/trials/{trial}/matches?stream=rating&version_id={version}&limit=200")["items"]
    fought = [game for game in games if "random" not in (game["player"], game["opponent"])]
    return int(max(fought, key=lambda game: game["plies"])["id"])


def _wait(stack: LocalStack, path: str) -> None:
    while (status := stack.call("GET", path)["status"]) != "completed":
        if status in ("failed", "stopped", "cancelled"):
            raise SystemExit(f"{path} ended as {status}")
        time.sleep(1)


def draw(page: Page, pages: dict[str, str], folder: Path) -> None:
    """One picture per page and colour scheme."""
    page.set_viewport_size(SIZE)
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        for name, address in pages.items():
            page.goto(address)
            page.locator("main h1").first.wait_for()
            for chart in page.locator("[data-keep]").all():
                chart.and_(page.locator("[data-drawn]")).wait_for()
            page.locator("#connection[data-ok=true]").wait_for()
            if name in FURTHER_DOWN:
                page.locator(FURTHER_DOWN[name]).first.evaluate("place => place.scrollIntoView()")
            picture = Image.open(io.BytesIO(page.screenshot()))
            picture.quantize(256).save(folder / f"{name}-{scheme}.png", optimize=True)


def draw_play(page: Page, version: str, folder: Path) -> None:
    """A game of a person against the champion, three moves in."""
    page.goto(f"/play/{version}")
    page.get_by_role("button", name="Start").click()
    for turn, column in enumerate("443"):
        page.get_by_alt_text(f"The position after {2 * turn} moves").wait_for()
        page.keyboard.press(column)
    page.get_by_alt_text("The position after 6 moves").wait_for()
    draw(page, {"play": page.url}, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=IMAGES, help="where the pictures go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with local_stack() as stack:
        trial = start_league(stack)
        token = stack.home.admin_token.read_text().strip()
        with signed_in(f"http://127.0.0.1:{stack.port}", token) as context:
            page = context.new_page()
            draw(page, {"trial": f"/trials/{trial}"}, folder)
            draw(page, finish_league(stack, trial), folder)
            champion = stack.call("GET", "/projects/connect-four/aliases/champion?game=connect_four")
            draw_play(page, champion["version_id"], folder)


if __name__ == "__main__":
    main()
