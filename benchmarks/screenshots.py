"""Draw the pictures of the page in docs/images, light and dark, of a league that is trained for it."""

from __future__ import annotations

import argparse
import io
import time
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from playwright.sync_api import Page, ViewportSize

from benchmarks.local_stack import LocalStack, local_stack
from benchmarks.page_paint import signed_in

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SIZE: ViewportSize = {"width": 1280, "height": 860}
LEAGUE: dict[str, Any] = {
    "seed": 7,
    "game": {"id": "tic_tac_toe"},
    "model": {"id": "mlp", "hidden": [64, 64]},
    "league": {
        "preset": "alphastar",
        "players": [
            {"name": "main", "role": "main"},
            {"name": "main-exploiter", "role": "main_exploiter"},
            {"name": "league-exploiter", "role": "league_exploiter"},
            {"name": "random", "role": "bot", "bot": "random"},
        ],
        "snapshot": {"min_steps": 40_000, "win_rate": 0.7, "max_steps": 80_000},
        "champion_gate": {"test": "sprt", "elo0": 0, "elo1": 35, "max_pairs": 400},
    },
    "generation": {"steps": 20_000, "tables": 64},
    "evaluation": {"every_generations": 2, "games": 40},
    "budget": {"steps": 1_500_000},
}


def league(stack: LocalStack) -> dict[str, str]:
    """Train a league, hold a tournament, and name the pages that are worth a picture."""
    made = stack.call("POST", "/trials", {"project": "board-games", "name": "alphastar", "spec": LEAGUE})
    _wait(stack, f"/trials/{made['id']}")
    spec = {"trial": "alphastar", "name": "round-robin", "entrants": ["latest", "snapshots", "bots"], "games": 20}
    tournament = stack.call("POST", "/tournaments", {"project": "board-games", "spec": spec})["id"]
    _wait(stack, f"/tournaments/{tournament}")
    root = f"/trials/{made['id']}"
    return {
        "trial": root,
        "payoff": f"{root}/payoff",
        "matchmaking": f"{root}/matchmaking",
        "lineage": f"{root}/lineage",
        "promotions": f"{root}/promotions",
        "tournament": f"/tournaments/{tournament}",
    }


def _wait(stack: LocalStack, path: str) -> None:
    while (status := stack.call("GET", path)["status"]) != "completed":
        if status in ("failed", "stopped", "cancelled"):
            raise SystemExit(f"{path} ended as {status}")
        time.sleep(1)


def draw(page: Page, pages: dict[str, str], folder: Path) -> None:
    """One picture a page and colour scheme."""
    page.set_viewport_size(SIZE)
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        for name, address in pages.items():
            page.goto(address)
            page.locator("main h1").first.wait_for()
            for chart in page.locator("[data-keep]").all():
                chart.and_(page.locator("[data-drawn]")).wait_for()
            picture = Image.open(io.BytesIO(page.screenshot()))
            picture.quantize(256).save(folder / f"{name}-{scheme}.png", optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=IMAGES, help="where the pictures go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with local_stack() as stack:
        pages = league(stack)
        token = stack.home.admin_token.read_text().strip()
        with signed_in(f"http://127.0.0.1:{stack.port}", token) as context:
            draw(context.new_page(), pages, folder)


if __name__ == "__main__":
    main()
