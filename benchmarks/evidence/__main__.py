"""Write the pages of strength, search and load in docs/evidence/ from the recorded rows.

    python -m benchmarks.evidence [--check]

With `--check` it writes nothing, and ends with 1 where a page states something else. A test does the same.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.evidence import load, search, strength
from benchmarks.results_file import read_results

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "evidence"
RESULTS = ROOT / "benchmarks" / "results"


def pages() -> dict[Path, str]:
    """Every page, as the rows have it."""

    def rows(name: str) -> dict[str, object]:
        return read_results(RESULTS / f"{name}.json")

    return {
        PAGES / "strength.md": strength.page(rows("slime_volley"), rows("perfect_play"), rows("exploitability")),
        PAGES / "search.md": search.page(rows("search"), rows("search_strength")),
        PAGES / "load.md": load.page(rows("long_run"), rows("api_load"), rows("api_schemathesis")),
    }


def main() -> None:
    """Write, or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 where a page differs")
    check = parser.parse_args().check
    found = pages()
    differ = [path for path, text in found.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in differ:
        print(f"{path.relative_to(ROOT)}: {'differs from the rows' if check else 'written'}")
        if not check:
            path.write_text(found[path], encoding="utf-8")
    sys.exit(1 if check and differ else 0)


if __name__ == "__main__":
    main()
