"""The virtual environments of outside tools, made on first use below build/."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path

from benchmarks.peers.rates import say

ROOT = Path(__file__).resolve().parents[3]
TOOLS = {
    "jax": ("jax==0.10.2", "pgx==2.6.0", "mctx==0.0.71"),
    "bitbully": ("bitbully==0.0.79",),
    "slimevolleygym": ("slimevolleygym==0.1.0", "gym==0.26.2", "numpy==1.26.4", "opencv-python-headless==4.10.0.84"),
}
"""What is installed for each. bitbully is under the AGPL: it is a program of its own, and nothing depends on it."""


class ToolFailed(RuntimeError):
    """The tool could not be installed or run; the message has its last lines of output."""


def ensure_python(tool: str) -> Path:
    """The interpreter of an environment with this tool in it, installing it if need be."""
    folder, wanted = ROOT / "build" / f"{tool}-venv", TOOLS[tool]
    python, stamp = folder / "bin" / "python", folder / "installed.txt"
    if stamp.is_file() and stamp.read_text().split() == list(wanted):
        return python
    say(f"installing {' '.join(wanted)} into {folder} (once)")
    venv.create(folder, with_pip=True)
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", *wanted], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ToolFailed(f"pip could not install {wanted}: {done.stderr[-2000:]}")
    stamp.write_text("\n".join(wanted))
    return python


def run_tool(tool: str, script: str, given: str, *, stdin: str = "", environment: dict[str, str] | None = None) -> str:
    """The last line that a script of this folder prints, run by the tool's interpreter."""
    path = Path(__file__).parent / script
    done = subprocess.run(
        [ensure_python(tool), path, given], input=stdin, stdout=subprocess.PIPE, text=True, check=False, env=environment
    )
    if done.returncode:
        raise ToolFailed(f"{tool} ended with {done.returncode}; its messages are above")
    return done.stdout.splitlines()[-1]
