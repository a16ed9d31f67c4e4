"""A Ray of two nodes: one joins, trains with the other, is drained and leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_a_node_joins_is_used_is_drained_and_leaves(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.integration.cluster.two_nodes", str(tmp_path / "artifacts")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "alone": [1.0, True],
        "over_both": True,
        "match_placed": True,
        "drained": [True, True],
        "left": 1.0,
        "address": True,
    }
