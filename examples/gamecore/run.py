"""Tic-tac-toe in C++ that calls in: train it in a league, then serve it, each by one command.

    python examples/gamecore/run.py train     # until it is unbeaten against the game's exact solver
    python examples/gamecore/run.py serve     # the champion; the same game plays against it with its solver

Both build the game with g++. `train` starts the stack if none runs, and leaves it up; `lanista down` ends it. The
agent is the same file in both: tic_tac_toe_agent.py.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lanista import Client, LanistaError

FOLDER = Path(__file__).resolve().parent
CLIENT = FOLDER.parents[1] / "clients" / "cpp"
PROGRAM = FOLDER / "tic_tac_toe"
PROJECT = "gamecore"
# the gateway, the train worker and the server import the agent from this folder
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(FOLDER), os.environ.get("PYTHONPATH")]))}


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


def lanista(*arguments: str | Path, printed: bool = True) -> str:
    """Run a command of Lanista; its failure ends this program."""
    command = [sys.executable, "-m", "lanista", *map(str, arguments)]
    done = subprocess.run(command, env=ENVIRONMENT, stdout=None if printed else subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout or ""


@contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command beside the block, and end it with the block."""
    process = subprocess.Popen(command, env=ENVIRONMENT)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def train(name: str, tables: int) -> None:
    """Start the trial and the game; watch until the trial ends."""
    game = build()
    lanista("up", "--detach")
    gateway = json.loads(lanista("status", "--json", printed=False))["children"]["gateway"]["address"]
    lanista("trial", "start", FOLDER / "trial.yaml", "--name", name)
    with running([str(game), gateway, "--tables", str(tables)]):
        lanista("trial", "watch", f"{PROJECT}/{name}")
    lanista("league", "payoff", f"{PROJECT}/{name}", "--stream", "rating")
    lanista("model", "promote", f"{PROJECT}/{name}/main", "--reason", "the last version of the trial")


def serve(port: int, games: int, stay: bool) -> None:
    """Serve the champion, and let the game play against it with its solver in the other seat."""
    game = build()
    command = [sys.executable, "-m", "lanista", "serve", "--alias", f"{PROJECT}@champion", "--game", trained_game()]
    with running([*command, "--port", str(port), "--tcp-port", str(port + 1)]) as server:
        wait_until_ready(port, server)
        play = [str(game), f"tcp://127.0.0.1:{port + 1}", "--tables", "8", "--against-solver", "--games", str(games)]
        done = subprocess.run(play, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE, text=True)
        print("the champion against the solver:", done.stdout.strip(), flush=True)
        if stay:
            server.wait()


def trained_game() -> str:
    """The game of the champion that was named last. A trial file whose game was edited is another game."""
    try:
        with Client() as client:
            champions = [alias for alias in client.aliases(PROJECT) if alias.name == "champion"]
    except LanistaError as error:
        sys.exit(f"{error}\nA champion is needed: run this program with `train` first.")
    if not champions:
        sys.exit(f"project {PROJECT} has no champion: run this program with `train` first")
    return max(champions, key=lambda alias: alias.moved_at).game


def wait_until_ready(port: int, server: subprocess.Popen[bytes]) -> None:
    """Until the server answers; it ends by itself where there is nothing to serve."""
    while server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    sys.exit(server.returncode or 1)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    orders = parser.add_subparsers(dest="order", required=True)
    training = orders.add_parser("train", help="train in a league")
    training.add_argument("--name", default=time.strftime("tic-tac-toe-%m%d-%H%M%S"), help="the trial's name")
    training.add_argument("--tables", type=int, default=32, help="games at the same time")
    serving = orders.add_parser("serve", help="serve the champion and play against it")
    serving.add_argument("--games", type=int, default=1000, help="games against the solver")
    serving.add_argument("--port", type=int, default=8900, help="port of HTTP; TCP has the next one")
    serving.add_argument("--stay", action="store_true", help="go on serving when the games are played")
    given = parser.parse_args()
    if given.order == "train":
        train(given.name, given.tables)
    else:
        serve(given.port, given.games, given.stay)


if __name__ == "__main__":
    main()
