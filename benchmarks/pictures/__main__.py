"""Draw every page, wide and narrow, light and dark, with 3 and with 300 players, to be looked at.

    python -m benchmarks.pictures [--folder build/pictures] [--players 3] [--widths 390] [--pages trial payoff]

Each kind gets a folder with a picture per page and contact sheets. What can be measured is printed: pages that scroll
sideways, words that are cut, empty cards, errors of scripts, and the height of each page.
"""

from __future__ import annotations

import argparse
import json
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from benchmarks.pictures.drawing import SCHEMES, WIDTHS, Drawn, contact_sheets, draw_all
from benchmarks.pictures.many_players import write_history
from benchmarks.pictures.small_league import make_small_league, running_league
from benchmarks.speed.page_paint import signed_in
from benchmarks.stacks.large_league import make_large_league
from benchmarks.stacks.local_stack import LocalStack, local_stack
from lanista.stack.control import reach

RUNNING = "trial-running"
"""The name of the page of a league that trains while it is drawn."""
SETTINGS = {"LANISTA_RECONCILE_SECONDS": "3600"}
"""The large league has rows and no workflows: the API would look for them, and end it."""
MOST_HEIGHT = 6_000
"""Pixels of a wide page; a higher one is reported."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("build/pictures"), help="where the pictures go")
    parser.add_argument("--players", nargs="*", type=int, choices=(3, 300), default=[3, 300], help="the leagues")
    parser.add_argument("--widths", nargs="*", type=int, default=list(WIDTHS), help="of the window, in pixels")
    parser.add_argument("--schemes", nargs="*", choices=SCHEMES, default=list(SCHEMES))
    parser.add_argument("--pages", nargs="*", help="names of pages, as they are in the pictures' names; all by default")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="keep the stack and its leagues there for the next run; `lanista down --home FOLDER/home` ends it",
    )
    chosen = parser.parse_args()
    with _stack(chosen.keep) as stack:
        for players in chosen.players:
            pages = _pages(stack, players, chosen.keep)
            wanted = {name: address for name, address in pages.items() if not chosen.pages or name in chosen.pages}
            folder = chosen.folder / f"{players}-players"
            token = stack.home.admin_token.read_text().strip()
            with signed_in(f"http://127.0.0.1:{stack.port}", token) as context:
                drawn = draw_all(context, wanted, folder, chosen.widths, chosen.schemes)
                if players == 3 and (not chosen.pages or RUNNING in chosen.pages):
                    with running_league(stack) as address:
                        drawn += draw_all(context, {RUNNING: address}, folder, chosen.widths, chosen.schemes)
            report(drawn)
            for sheet in contact_sheets(drawn, folder):
                print(sheet)


def _stack(keep: Path | None) -> AbstractContextManager[LocalStack]:
    """A stack for this run alone, or the one that runs in `keep`, started if it does not."""
    if keep is None:
        return local_stack(**SETTINGS)
    keep.mkdir(parents=True, exist_ok=True)
    stack = LocalStack(keep.absolute(), SETTINGS)
    state = stack.home.live_state()
    if state is not None and state.ready:
        stack.port = int(state.page.rpartition(":")[2])
    else:
        stack.up()
    return nullcontext(stack)


def _pages(stack: LocalStack, players: int, keep: Path | None) -> dict[str, str]:
    """The addresses of a league's pages; the league is made unless it was kept."""
    kept = None if keep is None else keep / f"pages-{players}.json"
    if kept is not None and kept.exists():
        found: dict[str, str] = json.loads(kept.read_text())
        return found
    if players == 3:
        pages = make_small_league(stack)
    else:
        url = reach(stack.home)["LANISTA_DATABASE_URL"].replace("+psycopg", "")
        pages = write_history(url, make_large_league(url))
    if kept is not None:
        kept.write_text(json.dumps(pages, indent=1))
    return pages


def report(drawn: list[Drawn]) -> None:
    """Print what is wrong with each picture."""
    for each in drawn:
        tall = [f"{each.height} px high"] if each.height > MOST_HEIGHT else []
        for fault in [*tall, *each.faults]:
            print(f"{each.path.name}: {fault}")
    print(f"{len(drawn)} pictures, {sum(bool(each.faults) for each in drawn)} with faults")


if __name__ == "__main__":
    main()
