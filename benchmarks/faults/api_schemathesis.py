"""Fuzz every call of the API by its OpenAPI document: no 5xx, no undocumented status, no hang.

    python -m benchmarks.api_schemathesis [--requests 100000]

Runs pieces, each with a fresh seed and a stack of its own, until so many requests were made. Each is a row of
benchmarks/results/api_schemathesis.json; rows that are there count, so the command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.results_file import read_results, write_results
from benchmarks.stacks.local_stack import LocalStack, local_stack

CONFIG = Path(__file__).with_name("schemathesis.toml")
ENDLESS = r"/events$"
REVOKING = r"^/api/v1/tokens/"
"""Fuzzed separately: a run that revokes its own token gets only 401 afterwards."""
WANTED = 100_000
FILE = Path(__file__).parents[1] / "results" / "api_schemathesis.json"
_FAILURES = re.compile(r"^\s*❌ (ST\d+ [^:\n]+): (\d+)$", re.MULTILINE)
"""A line of its summary: a kind of failure, and how often it was met."""
_SERVER_ERRORS = ("ST101", "ST102")
"""Its codes of failures by a 5xx; the second is of requests with a content type that no call takes."""
BUILD = Path(__file__).parents[2] / "build"
POLL_SECONDS = 65
"""Temporal gives up a poll after a minute; until then it hands questions to a worker that is no longer there."""


def fuzz(base: str, token: str, *arguments: str) -> tuple[int, int, str]:
    """Exit code, test cases generated, and what schemathesis said."""
    command = [Path(sys.executable).parent / "schemathesis", "--config-file", CONFIG, "run", f"{base}/openapi.json"]
    options = ["--url", base, "--header", f"Authorization: Bearer {token}", "--checks", "all", *arguments]
    with tempfile.TemporaryDirectory() as folder:  # it writes files for a replay into its working folder
        done = subprocess.run([*map(str, command), *options], cwd=folder, capture_output=True, text=True)
    said = done.stdout + done.stderr
    found = re.search(r"(\d+) generated", said)
    return done.returncode, int(found[1]) if found else 0, said


def fuzz_all(stack: LocalStack, examples: int, seed: int) -> dict[str, object]:
    """Everything but streams with the admin's token, then revoking with a token made for it."""
    base, token = f"http://127.0.0.1:{stack.port}", stack.home.admin_token.read_text().strip()
    common = ["--seed", str(seed), "--workers", "2", "-n", str(examples)]
    code, cases, said = fuzz(base, token, *common, "--exclude-path-regex", f"{ENDLESS}|{REVOKING}")
    print(said[said.find("FAILURES") :][-20_000:] if code else "", file=sys.stderr)
    spare = str(stack.call("POST", "/tokens", {"name": "to be revoked", "scope": "admin"})["token"])
    revoking = ["--include-path-regex", REVOKING, "--exclude-checks", "ignored_auth,unsupported_method"]
    other_code, other_cases, other_said = fuzz(base, spare, "-n", "50", "--phases", "examples,fuzzing", *revoking)
    print(other_said[other_said.find("FAILURES") :] if other_code else "", file=sys.stderr)
    BUILD.mkdir(exist_ok=True)
    (BUILD / f"schemathesis-{seed}.log").write_text(said + other_said, encoding="utf-8")
    found = failures(said + other_said)
    row = {"cases": cases + other_cases, "exit_codes": [code, other_code], "server_errors": server_errors(found)}
    return {**row, "failures": found}


def failures(said: str) -> dict[str, int]:
    """What the summaries count, by kind."""
    found: dict[str, int] = {}
    for kind, times in _FAILURES.findall(said):
        found[kind] = found.get(kind, 0) + int(times)
    return found


def server_errors(found: dict[str, int]) -> int:
    """How many different calls were seen to answer with a 5xx."""
    return sum(times for kind, times in found.items() if kind.startswith(_SERVER_ERRORS))


def make_piece(seed: int, examples: int) -> dict[str, Any]:
    """One stack without its train worker, fuzzed with one seed."""
    # rate limits have their own tests; here they would hide the calls behind them
    with local_stack(LANISTA_RATE_LIMIT="0", LANISTA_FAILED_SIGN_INS="0") as stack:
        state = stack.home.read_state()
        assert state is not None
        train_worker = state.children["train-worker"].pid
        assert train_worker is not None
        os.kill(train_worker, signal.SIGSTOP)  # if it were killed, the supervisor would restart it
        began = time.monotonic()
        try:
            time.sleep(POLL_SECONDS)
            found = fuzz_all(stack, examples, seed)
        finally:
            os.kill(train_worker, signal.SIGCONT)
    return {**found, "seconds": round(time.monotonic() - began), "load": round(os.getloadavg()[0], 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=WANTED, help="of all rows together")
    parser.add_argument("--examples", type=int, default=350, help="of each call, while fuzzing, in one piece")
    parser.add_argument("--seed", type=int, help="one piece with this seed alone, which is not recorded")
    given = parser.parse_args()
    if given.seed is not None:
        found = make_piece(given.seed, given.examples)
        print(json.dumps(found))
        sys.exit(any(found["exit_codes"]))
    rows = read_results(FILE)
    while sum(row["cases"] for row in rows.values()) < given.requests:
        seed = 1 + max((int(name) for name in rows), default=0)
        rows[str(seed)] = make_piece(seed, given.examples)
        write_results(FILE, rows)
        if not rows[str(seed)]["cases"]:
            raise RuntimeError("schemathesis made no request")
    total = {name: sum(row[name] for row in rows.values()) for name in ("cases", "server_errors")}
    failed = [seed for seed, row in rows.items() if any(row["exit_codes"])]
    print(json.dumps({**total, "pieces": len(rows), "failed_seeds": failed}))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
