"""Train the tic-tac-toe of this folder in a league, until it is unbeaten against the game's exact solver.

    python examples/gamecore/train.py

Builds the game with g++, starts the stack if none runs, starts the trial and lets the game play. The stack stays up
for `serve.py`; `lanista down` ends it.
"""

import argparse
import time

from building import FOLDER, build, lanista, running

PROJECT = "gamecore"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default=time.strftime("tic-tac-toe-%m%d-%H%M%S"), help="the trial's name")
    parser.add_argument("--gateway", default="tcp://127.0.0.1:8811", help="where the game calls in")
    given = parser.parse_args()
    game = build()
    lanista("up", "--detach")
    lanista("trial", "start", FOLDER / "trial.yaml", "--name", given.name)
    with running([game, given.gateway, "--tables", "16"]):
        lanista("trial", "watch", f"{PROJECT}/{given.name}")
    lanista("league", "payoff", f"{PROJECT}/{given.name}", "--stream", "rating")
    lanista("model", "promote", f"{PROJECT}/{given.name}/main", "--reason", "the last version of the trial")


if __name__ == "__main__":
    main()
