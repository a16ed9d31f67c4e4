"""Runs the tests that failed once more, in one process; exits with 1 where that would hide a real failure.

A test in tests/e2e or tests/integration drives servers, Ray actors and a browser, and may have waited too long for a
core that another test had. A test elsewhere gives the same answer every time, so its failure stands; so do many
failures, files that could not be read, and a run that was broken off (the rest was not run then).
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ON_REAL_PROCESSES = ("tests/e2e/", "tests/integration/")
FEW = 8
FAILED = Path(".pytest_cache/v/cache/lastfailed")
GROUP = re.compile(r"@[\w./-]+$")
"""pytest-xdist's group at the end of a test's name; pytest itself does not know it."""


def main(log: Path) -> int:
    broken_off = re.search(r"^!{3,} ", log.read_text(errors="replace"), re.MULTILINE)
    names = sorted(GROUP.sub("", name) for name in json.loads(FAILED.read_text())) if FAILED.exists() else []
    if (
        broken_off
        or not names
        or len(names) > FEW
        or not all("::" in name and name.startswith(ON_REAL_PROCESSES) for name in names)
    ):
        print(f"{len(names)} tests failed; they are not run again.")
        return 1
    print("These failed, and are run once more, alone:", *names, sep="\n  ", flush=True)
    return subprocess.run([".venv/bin/python", "-m", "pytest", *names], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
