"""The rival's own virtual environment, created on first use, with the versions of this environment."""

from __future__ import annotations

import subprocess
import sys
import venv
from importlib.metadata import version
from pathlib import Path

from benchmarks.peers.rates import say

_SAME_VERSIONS = ("ray[rllib]", "torch", "numpy", "open_spiel")


class VenvFailed(RuntimeError):
    """RLlib could not be installed; the message has pip's last lines of output."""


def ensure_python(folder: Path) -> Path:
    """The interpreter of an environment with RLlib in it, installing it if need be."""
    wanted = "\n".join(requirements())
    python, stamp = folder / "bin" / "python", folder / "installed.txt"
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    say(f"installing RLlib into {folder} (once)")
    venv.create(folder, with_pip=True, clear=True)
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", *wanted.split()], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise VenvFailed(f"pip could not install {wanted.split()}: {done.stderr[-2000:]}")
    stamp.write_text(wanted)
    return python


def requirements() -> list[str]:
    """The same Ray, torch and game as here, without local build tags (`+cpu`); the rest as RLlib asks."""
    return [f"{name}=={version(name.partition('[')[0]).partition('+')[0]}" for name in _SAME_VERSIONS]


if __name__ == "__main__":
    ensure_python(Path(sys.argv[1]))
