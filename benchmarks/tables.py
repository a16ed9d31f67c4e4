"""The tables of the guides that say what was measured, written from the committed rows.

    python -m benchmarks.tables [--check]

Replaces the text between `<!-- table: NAME -->` and `<!-- end of table -->` in docs/guides/algorithms.md. With
`--check` it writes nothing, and ends with 1 where the guide states something else. A test does the same.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.algorithms import lanista, peers
from benchmarks.algorithms.cases import CASES, Case
from benchmarks.algorithms.rows import RESULTS, Results, Row, summary
from benchmarks.peers.rates import say
from benchmarks.strength import breakout, cooperative

GUIDE = Path(__file__).parents[1] / "docs" / "guides" / "algorithms.md"
SEEDS = (21, 22, 23)
"""The seeds of the table: no default was chosen on them."""


def algorithms_table(results: Results) -> str:
    """A row for each case: steps and seconds to the target by seed, and those of the other project."""
    rows = [
        [f"`{name}`", f"{case.env}, {_aim(case)}", *_figures(case, results)]
        for name, case in CASES.items()
        if results.get(lanista.key(case, SEEDS[0]))
    ]
    headings = [
        "case",
        "environment, target",
        "steps by seed",
        "seconds by seed",
        "load",
        "peer",
        "its steps",
        "its seconds",
    ]
    return table([*headings, "ratio"], rows)


def _aim(case: Case) -> str:
    return f"{case.target:g}" if case.reachable else f"return after {case.most_steps:,} steps"


def _figures(case: Case, results: Results) -> list[str]:
    mine = [row for seed in SEEDS if (row := results.get(lanista.key(case, seed)))]
    theirs = [row for seed in SEEDS if case.peer and (row := results.get(peers.key(case, seed)))]
    load = max(row.load for row in [*mine, *theirs])
    own = [_steps(case, mine), _seconds(mine), f"{load:.0f}"]
    if not theirs:
        return [*own, "", "", "", ""]
    ratio = summary(mine, theirs)["ratio"]
    return [*own, theirs[0].by, _steps(case, theirs), _seconds(theirs), "" if ratio is None else f"{ratio:.1f}"]


def _steps(case: Case, rows: Sequence[Row]) -> str:
    if not case.reachable:
        return ", ".join(f"return {row.curve[-1][2]:,.0f}" for row in rows)
    return ", ".join(f"{row.steps:,}" if row.steps else f"not reached (best {row.best:.0f})" for row in rows)


def _seconds(rows: Sequence[Row]) -> str:
    return ", ".join(f"{row.curve[-1][1]:.1f}" for row in rows)


def cooperative_table(rows: list[dict[str, Any]]) -> str:
    """A row for each algorithm of a task: the return by seed, its 95 % interval, whether it beats independent PPO."""
    found = []
    for task, by_label in cooperative.summary(rows).items():
        for label, row in by_label.items():
            verdict = {True: "yes", False: "no", None: ""}[row.get("beats_ppo")]
            returns = ", ".join(f"{value:.2f}" for value in row["returns"])
            half = f"{row['mean']:.2f} ± {row['high'] - row['mean']:.2f}"
            found.append([f"`{task}`, {cooperative.TASKS[task].steps:,} steps", label, returns, half, verdict])
    return table(["task", "algorithm", "return by seed", "mean, 95 % interval", "beats independent PPO"], found)


def breakout_table(rows: Mapping[str, Any]) -> str:
    """A row for each run."""
    found = [
        [name, f"{row['steps']:,}", f"{row['steps'] / row['seconds']:.0f}", f"{row['return']:.1f}"]
        for name, row in rows.items()
    ]
    return table(["run", "steps", "frames/s", f"mean return of {breakout.GAMES} whole games"], found)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |") for cells in lines)


def _json(file: Path, otherwise: Any) -> Any:
    return json.loads(file.read_text()) if file.exists() else otherwise


TABLES: dict[str, Callable[[], str]] = {
    "algorithms": lambda: algorithms_table(Results(RESULTS)),
    "cooperative": lambda: cooperative_table(_json(cooperative.FILE, [])),
    "breakout": lambda: breakout_table(_json(breakout.RESULTS, {})),
}


def with_tables(text: str) -> str:
    """The guide's text with each table as the rows have it now."""
    for name, make in TABLES.items():
        pattern = rf"(<!-- table: {name} -->\n).*?(<!-- end of table -->)"
        text, count = re.subn(pattern, lambda found: f"{found[1]}\n{make()}\n\n{found[2]}", text, flags=re.DOTALL)  # noqa: B023
        if count != 1:
            raise SystemExit(f"the guide must have the table {name} once, not {count} times")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a table differs")
    given = parser.parse_args()
    stated = GUIDE.read_text()
    wanted = with_tables(stated)
    if given.check and stated != wanted:
        sys.exit(f"{GUIDE} states other figures than the committed rows: run python -m benchmarks.tables")
    if not given.check:
        GUIDE.write_text(wanted)
    say(f"{GUIDE}: {len(TABLES)} tables")


if __name__ == "__main__":
    main()
