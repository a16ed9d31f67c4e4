"""Leagues on hosts made of namespaces: crews over hosts, nodes that join, die and are cut off, two train workers.

Row by row: each row has a cluster of its own, ends with `lanista audit`, and is written when it is done. A second run
does only what is missing; `--again` measures anew.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from benchmarks.faults.cluster_rows import ROWS
from benchmarks.results_file import read_results, write_results
from benchmarks.stacks.hosts import why_no_hosts

FILE = Path(__file__).parents[1] / "results" / "cluster.json"


def main() -> None:
    """Measure the rows that are asked for and missing; exit code 0 only if all were seen and their audits agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}; none: all")
    parser.add_argument("--again", action="store_true", help="measure rows anew that are done")
    parser.add_argument("--file", type=Path, default=FILE, help="where rows are kept")
    parser.add_argument("--logs", type=Path, help="keep each row's logs in a folder below this one")
    parser.add_argument("--json", action="store_true", help="print all rows as JSON on stdout")
    arguments = parser.parse_args()
    if unknown := set(arguments.rows) - set(ROWS):
        parser.error(f"unknown rows {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    if (reason := why_no_hosts()) is not None:
        sys.exit(f"no hosts can be made here: {reason}")
    rows = read_results(arguments.file)
    for name in arguments.rows or ROWS:
        if arguments.again or not rows.get(name, {}).get("seen"):
            rows[name] = _measure(name, arguments.logs)
            write_results(arguments.file, rows)
        if not arguments.json:
            print(f"{name}: {json.dumps(rows[name])}", flush=True)
    if arguments.json:
        print(json.dumps(rows, indent=1))
    measured = [rows[name] for name in arguments.rows or ROWS]
    sys.exit(0 if all(row["seen"] and row.get("audit") in (0, None) for row in measured) else 1)


def _measure(name: str, logs: Path | None) -> dict[str, Any]:
    """One row: what was seen, the problem if it was not, and how busy the machine was."""
    folder = Path(tempfile.mkdtemp(prefix="lanista-cluster-")) if logs is None else logs / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    began = os.getloadavg()[0]
    try:
        row = {"seen": True, **ROWS[name](folder)}
    except Exception as error:
        traceback.print_exc()
        row = {"seen": False, "problem": f"{type(error).__name__}: {error}"}
    finally:
        if logs is None:
            shutil.rmtree(folder, ignore_errors=True)
    return {**row, "load_average": [round(began, 1), round(os.getloadavg()[0], 1)]}


if __name__ == "__main__":
    main()
