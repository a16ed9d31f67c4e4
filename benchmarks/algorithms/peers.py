"""Runs one case by another project, in a virtual environment of its own that is made once."""

from __future__ import annotations

import json
import os
import subprocess
import venv
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.algorithms.cases import GAMES, Case
from benchmarks.algorithms.rows import Key, Row, settings_key
from benchmarks.peers.rates import say

ROOT = Path(__file__).resolve().parents[2]
_WANTED = {
    "sb3": ("stable-baselines3==2.9.2", "sb3-contrib==2.9.2"),
    "tianshou": ("tianshou==2.0.1",),
}
"""What is installed for each project, beside the torch of this environment."""


class PeerFailed(RuntimeError):
    """The other project could not be installed or run; the message has its last lines of output."""


def run(case: Case, seed: int) -> Row:
    """Train the case's algorithm by its peer, until the target or the last step."""
    assert case.peer is not None
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [ensure_python(case.peer, case.peer_needs), _script(case.peer), json.dumps(_settings(case, seed))],
        stdout=subprocess.PIPE,
        env=variables,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PeerFailed(f"{case.peer} ended with {done.returncode}; its messages are above")
    return Row.of(key(case, seed), json.loads(done.stdout.splitlines()[-1]))


def key(case: Case, seed: int) -> Key:
    """The key of this run: the peer's script and version count."""
    assert case.peer is not None
    settings = {**_settings(case, seed), "script": _script(case.peer).read_text(), "wanted": _WANTED[case.peer]}
    return Key(case.algorithm, case.peer, case.env, case.target, seed, settings_key(settings))


def _script(peer: str) -> Path:
    return ROOT / "benchmarks" / "peers" / f"{peer}_run.py"


def _settings(case: Case, seed: int) -> dict[str, Any]:
    return {
        "algorithm": case.algorithm,
        "env": case.env,
        "target": case.target,
        "seed": seed,
        "evaluate_every": case.evaluate_every,
        "most_steps": case.most_steps,
        "games": GAMES,
    }


def ensure_python(peer: str, needs: Sequence[str] = ()) -> Path:
    """The interpreter of an environment that has the project and what else is needed, installed if need be."""
    folder = ROOT / "build" / f"{peer}-venv"
    wanted = [f"torch=={version('torch').partition('+')[0]}", *_WANTED[peer], *needs]
    python, stamp = folder / "bin" / "python", folder / "installed.txt"
    if stamp.is_file() and set(wanted) <= set(stamp.read_text().splitlines()):
        return python
    say(f"installing {' '.join(wanted)} into {folder} (once)")
    venv.create(folder, with_pip=True)
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", *wanted], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise PeerFailed(f"pip could not install {wanted}: {done.stderr[-2000:]}")
    before = stamp.read_text().splitlines() if stamp.is_file() else []
    stamp.write_text("\n".join(dict.fromkeys([*wanted, *before])))
    return python
