"""Fuzz every call of the API by its OpenAPI document: no 5xx, no undocumented status, no hang."""

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

from benchmarks.stacks.local_stack import LocalStack, local_stack

CONFIG = Path(__file__).with_name("schemathesis.toml")
ENDLESS = r"/events$"
REVOKING = r"^/api/v1/tokens/"
"""Fuzzed separately: a run that revokes its own token gets only 401 afterwards."""
WANTED = 20_000
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
    server_errors = len(re.findall(r"ST101", said + other_said))
    return {
        "cases": cases + other_cases,
        "exit_codes": [code, other_code],
        "server_errors": server_errors,
        "enough": cases >= WANTED,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=350, help="of each call, while fuzzing")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    # rate limits have their own tests; here they would hide the calls behind them
    with local_stack(LANISTA_RATE_LIMIT="0", LANISTA_FAILED_SIGN_INS="0") as stack:
        state = stack.home.read_state()
        assert state is not None
        train_worker = state.children["train-worker"].pid
        assert train_worker is not None
        os.kill(train_worker, signal.SIGSTOP)  # if it were killed, the supervisor would restart it
        try:
            time.sleep(POLL_SECONDS)
            result = fuzz_all(stack, given.examples, given.seed)
        finally:
            os.kill(train_worker, signal.SIGCONT)
    print(json.dumps(result))
    if any(result["exit_codes"]):  # type: ignore[arg-type]
        sys.exit(1)


if __name__ == "__main__":
    main()
