"""Check the documentation: every block of code and command is parsed, marked ones are run, every link is followed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.documentation.blocks import blocks_of, pages
from benchmarks.documentation.links import problems_of_links
from benchmarks.documentation.rules import problems_of_page
from benchmarks.documentation.running import problems_of_running, runs_anything


def problems(page: Path) -> list[str]:
    """What is wrong with a page, without running anything."""
    return [*problems_of_page(page), *problems_of_links(page)]


def main() -> None:
    """Check all pages, or those that are named; exit code 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path, help="pages; all unless given")
    parser.add_argument("--no-run", action="store_true", help="run nothing")
    given = parser.parse_args()
    chosen = [page.resolve() for page in given.pages] or pages()
    found = [problem for page in chosen for problem in problems(page)]
    ran = [] if given.no_run else [page for page in chosen if runs_anything(page)]
    for page in ran:
        print(f"running {page.name}", flush=True)
        found += problems_of_running(page)
    for problem in found:
        print(problem)
    blocks = sum(1 for page in chosen for _ in blocks_of(page))
    print(f"{len(chosen)} pages, {blocks} blocks, {len(ran)} pages run: {len(found)} problems")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
