"""What `train.py` and `serve.py` share: the game built with g++, the command line, a game that runs meanwhile."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
CLIENT = FOLDER.parents[1] / "clients" / "cpp"
PROGRAM = FOLDER / "tic_tac_toe"

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(FOLDER), os.environ.get("PYTHONPATH")]))}
"""The gateway and the train worker import the agent from this folder."""


def build() -> Path:
    """The game, built where it is older than its sources."""
    sources = [*FOLDER.glob("*.?pp"), *CLIENT.glob("*.hpp")]
    if PROGRAM.exists() and PROGRAM.stat().st_mtime > max(source.stat().st_mtime for source in sources):
        return PROGRAM
    compiler = shutil.which("g++")
    if compiler is None:
        sys.exit("g++ is not installed: it builds the game")
    flags = ["-std=c++17", "-O2", "-pthread", f"-I{CLIENT}"]
    subprocess.run([compiler, *flags, "-o", PROGRAM, FOLDER / "tic_tac_toe.cpp"], check=True)
    return PROGRAM


def lanista(*arguments: str | Path) -> None:
    """Run a command of Lanista; its failure ends this program."""
    done = subprocess.run([sys.executable, "-m", "lanista", *arguments], env=ENVIRONMENT)
    if done.returncode:
        sys.exit(done.returncode)


@contextmanager
def running(command: list[str | Path]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command beside the block, and end it with the block."""
    process = subprocess.Popen(command, env=ENVIRONMENT)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
