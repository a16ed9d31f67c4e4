"""Leagues on hosts made of namespaces: crews over hosts, nodes that join, die and are cut off, two train workers.

Row by row, on one cluster while all goes well: each row is a league of its own, ends with `lanista audit`, and is
written when it is done. A second run does only what is missing; `--again` measures anew.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.cluster.observing import until, usable
from benchmarks.cluster.rows import ON_A_SHARED_FOLDER, ON_S3, Row
from benchmarks.results_file import read_results, write_results
from benchmarks.stacks.cluster_stack import ClusterStack, cluster_stack
from benchmarks.stacks.hosts import why_no_hosts

FILE = Path(__file__).parents[1] / "results" / "cluster.json"
ROWS = {row.__name__: row for row in (*ON_A_SHARED_FOLDER, *ON_S3)}
S3_PORT = 9000
S3 = {
    "AWS_ACCESS_KEY_ID": "measured",
    "AWS_SECRET_ACCESS_KEY": "measured",
    "AWS_DEFAULT_REGION": "us-east-1",
    "LANISTA_ARTIFACTS": "s3://lanista/artifacts",
}


def main() -> None:
    """Measure the rows that are asked for and missing; exit code 0 only if all were seen and their audits agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}; none: all")
    parser.add_argument("--again", action="store_true", help="measure rows anew that are done")
    parser.add_argument("--file", type=Path, default=FILE, help="where rows are kept")
    parser.add_argument("--logs", type=Path, help="keep each cluster's logs in a folder below this one")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no row after this time")
    parser.add_argument("--json", action="store_true", help="print all rows as JSON on stdout")
    arguments = parser.parse_args()
    if unknown := set(arguments.rows) - set(ROWS):
        parser.error(f"unknown rows {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    if (reason := why_no_hosts()) is not None:
        sys.exit(f"no hosts can be made here: {reason}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that hosts are removed
    wanted = [row for name, row in ROWS.items() if name in (arguments.rows or ROWS)]
    done = read_results(arguments.file)
    missing = [row for row in wanted if arguments.again or not done.get(row.__name__, {}).get("seen")]
    latest = time.monotonic() + 60 * arguments.minutes
    for kind in (ON_A_SHARED_FOLDER, ON_S3):
        for name, row in _measure([row for row in missing if row in kind], arguments.logs, latest):
            done = {**read_results(arguments.file), name: row}  # another run may have written meanwhile
            write_results(arguments.file, done)
            print(f"{name}: {json.dumps(row)}", file=sys.stderr if arguments.json else sys.stdout, flush=True)
    if arguments.json:
        print(json.dumps(done, indent=1))
    seen = [done.get(row.__name__, {}) for row in wanted]
    sys.exit(0 if all(row.get("seen") and not row["audit"] for row in seen) else 1)


def _measure(rows: Sequence[Row], logs: Path | None, latest: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows on one cluster; after one that failed, the next has a new cluster. None begins later than `latest`."""
    left = list(rows)
    while left and time.monotonic() < latest:
        with _cluster(logs, s3=left[0] in ON_S3) as stack:
            while left and time.monotonic() < latest:
                row = left.pop(0)
                seen = _one(row, stack)
                yield row.__name__, seen
                if not seen["seen"]:
                    break


def _one(row: Row, stack: ClusterStack) -> dict[str, Any]:
    """One row: what was seen, the problem if it was not, and how busy the machine was."""
    load, began = os.getloadavg()[0], time.monotonic()
    try:
        until(lambda: usable(stack, *(host for name, host in stack.network.hosts.items() if "node" in name)), "nodes")
        told = {"seen": True, **row(stack)}
    except Exception as error:
        traceback.print_exc()
        told = {"seen": False, "problem": f"{type(error).__name__}: {error}"}
    busy = [round(load, 1), round(os.getloadavg()[0], 1)]
    return {**told, "load_average": busy, "seconds": round(time.monotonic() - began), "commit": _commit()}


@contextmanager
def _cluster(logs: Path | None, *, s3: bool) -> Iterator[ClusterStack]:
    """Two nodes of one CPU each and a train worker."""
    if s3 and (missing := [name for name in ("s3fs", "moto") if importlib.util.find_spec(name) is None]):
        sys.exit(f"needs {', '.join(missing)}: pip install 's3fs' 'moto[server]'")
    folder = Path(tempfile.mkdtemp(prefix="lanista-cluster-", dir=logs))
    try:
        with cluster_stack(S3 if s3 else None, folder, start=False) as stack:
            if s3:
                stack.start_s3(S3_PORT, "lanista")
            stack.up()
            for name in ("node1", "node2"):
                stack.add_node(name, 1, shares=not s3)
            stack.add_train_worker("train1", shares=not s3)
            yield stack
    finally:
        if logs is None:
            shutil.rmtree(folder, ignore_errors=True)


def _commit() -> str:
    command = ["git", "-C", str(FILE.parent), "rev-parse", "--short=10", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    main()
