"""Write docs/evidence/cluster.md, and the sentence that other pages state, from the recorded rows.

    python -m benchmarks.cluster.page [--check]

With `--check` it writes nothing, and ends with 1 where a page states something else. A test does the same.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from benchmarks.cluster.__main__ import FILE, ROWS
from benchmarks.results_file import read_results

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "cluster.md"
SENTENCE = re.compile(r"(<!-- cluster -->\n).*?(\n<!-- end of cluster -->)", re.DOTALL)
"""How other pages state the result."""
INTRODUCTION = """# Several hosts, measured

This page is written from `benchmarks/results/cluster.json` by `python -m benchmarks.cluster.page`; a test fails where
it, or another page, states anything else. `python -m benchmarks.cluster --json` measures what is missing.
"""
METHOD = """## How it is measured

- Hosts are Linux namespaces on one machine with two cores: each has its own network behind a virtual cable, its own
  hostname, processes, /tmp and /dev/shm. They share the installation on disk, and one folder for artifacts but in the
  row of S3, whose server is moto. So the rows show that nothing depends on one host, and not how fast several machines
  are.
- `control` runs Postgres, Temporal's development server, the API and the store worker; `head` Ray's head without CPUs;
  `train1` a train worker and its Ray node without CPUs; `node1`, `node2` and more are Ray nodes of one CPU each. Ray's
  token authentication is on.
- Each row is a league of its own: tic-tac-toe (or the shipped game), two or three main players and a bot, 4,000 steps a
  generation, snapshots, gates. It ends with `lanista audit`.
- Seconds count from the fault, and are as a caller sees them: the load average of the machine is that before and after
  the row. Above 2 the cores are busy, mostly with other work.
- "Cost of two hosts" is one player with a larger network, 400,000 steps of connect four a generation and crews of two
  processes; on one host they average gradients in shared memory, over two by gloo.
- "Rolling upgrade" has two train workers of one code with different build ids, and Ray nodes of one release. The new
  build is promoted by `lanista worker promote` while the old one works; the old one gets SIGTERM when nothing is under
  way on it. What each build served is read from the histories in Temporal, by the time at which it began.
- "Crew processes" is the most that were seen on each host at one time.
"""
_HEADS = ("row", "generations", "tried again", "gates", "crew processes", "steps/s", "audit", "load")


def page(rows: dict[str, Any]) -> str:
    """The whole page."""
    parts = [INTRODUCTION, sentence(rows)]
    if _seen(rows):
        parts += [table(rows), faults(rows), failures(rows)]
    return "\n\n".join(part.strip() for part in [*parts, METHOD] if part) + "\n"


def sentence(rows: dict[str, Any]) -> str:
    """What other pages may state."""
    seen = _seen(rows)
    if not seen:
        return "No row on several hosts is recorded yet."
    missing = [_words(name) for name in ROWS if name not in seen]
    clean = sum(row["audit"] == 0 for row in seen.values())
    generations = sum(league["generations"] for row in seen.values() for league in _leagues(row))
    text = (
        f"{len(seen)} of {len(ROWS)} rows were seen on hosts made of namespaces, with {generations} generations: "
        f"{clean} of {len(seen)} audits clean."
    )
    for name, what in (("node_killed", "a node was killed"), ("link_cut", "a link was cut")):
        if name in seen:
            waits = sorted(seen[name]["seconds_to_next_commit"].values())
            text += f" After {what} the players committed again within {', '.join(f'{wait:g}' for wait in waits)} s."
    return text + (f" Not seen: {', '.join(missing)}." if missing else "")


def table(rows: dict[str, Any]) -> str:
    """A line for each league."""
    lines = [f"| {' | '.join(_HEADS)} |", f"| {' | '.join('---' for _ in _HEADS)} |"]
    for name, row in _seen(rows).items():
        for league in _leagues(row):
            crews = ", ".join(f"{host} {count}" for host, count in league["most_crew_processes"].items())
            gates = ", ".join(f"{count} {status}" for status, count in sorted(league["gates"].items())) or "none"
            load = " to ".join(f"{load:.0f}" for load in row["load_average"])
            audit = "clean" if league["audit"] == 0 else f"{league['audit']} findings"
            cells = [_words(name), league["generations"], league["retried"], gates, crews]
            cells += [f"{league['median_steps_per_second']:,}", audit, load]
            lines.append(f"| {' | '.join(str(cell) for cell in cells)} |")
    return "\n".join(lines)


def faults(rows: dict[str, Any]) -> str:
    """What the rows saw besides."""
    lines = []
    for name, row in _seen(rows).items():
        said = [f"{_words(key)} {_value(row[key])}" for key in row if key.startswith("seconds_")]
        if "problem_shown" in row:
            said.append(f"shown as its problem: `{row['problem_shown']}`")
        if "speeds" in row:
            said += [f"{how} {speed:,} steps/s" for how, speed in row["speeds"].items()]
        said += [f"{phase}: {_builds(by_build)}" for phase, by_build in row.get("served", {}).items()]
        if "leagues" in row:
            longest = max(league["longest_gap_seconds"] for league in row["leagues"])
            said.append(f"longest time between two commits of a player {longest:g} s")
        if said:
            lines.append(f"- {_words(name)}: {'; '.join(said)}")
    return "\n".join(lines)


def failures(rows: dict[str, Any]) -> str:
    """What the leagues recorded as failed attempts."""
    lines = []
    for name, row in _seen(rows).items():
        recorded = [failure for league in _leagues(row) for failure in league["failures"]]
        lines += [f"- {_words(name)}: `{failure.splitlines()[0]}`" for failure in dict.fromkeys(recorded)]
    return "\n".join(["Failed attempts that the leagues recorded:", "", *lines]) if lines else ""


def with_sentence(text: str, rows: dict[str, Any]) -> str:
    """A page with the sentence between its comments as the rows have it."""
    return SENTENCE.sub(lambda found: found[1] + sentence(rows) + found[2], text)


def pages() -> dict[Path, str]:
    """Every page that states a figure, as the rows have it."""
    rows = read_results(FILE)
    found = {PAGE: page(rows)}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if SENTENCE.search(text):
            found[path] = with_sentence(text, rows)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 where a page differs")
    check = parser.parse_args().check
    differ = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in differ:
        print(f"{path.relative_to(ROOT)}: {'differs from the rows' if check else 'written'}")
        if not check:
            path.write_text(pages()[path], encoding="utf-8")
    sys.exit(1 if check and differ else 0)


def _seen(rows: dict[str, Any]) -> dict[str, Any]:
    return {name: rows[name] for name in ROWS if rows.get(name, {}).get("seen")}


def _leagues(row: dict[str, Any]) -> list[dict[str, Any]]:
    return row.get("leagues") or [row]


def _words(name: str) -> str:
    return name.replace("_", " ")


def _builds(by_build: dict[str, dict[str, int]]) -> str:
    """Which build served how much."""
    said = []
    for build, names in by_build.items():
        trained = names.get("train_generation", 0)
        said.append(f"{build} {trained} generations and {sum(names.values()) - trained} other activities")
    return ", ".join(said) or "nothing"


def _value(seconds: Any) -> str:
    if isinstance(seconds, dict):
        return ", ".join(f"{name} {value:g} s" for name, value in seconds.items())
    return f"{seconds:g} s"


if __name__ == "__main__":
    main()
