"""Serve the champion that `train.py` trained; the same game plays against it, with its solver in the other seat.

    python examples/gamecore/serve.py [--games 1000]

The agent is the file that trained: tic_tac_toe_agent.py.
"""

import argparse
import subprocess
import sys
import time
import urllib.request

from building import ENVIRONMENT, build, running

SERVE = [sys.executable, "-m", "lanista", "serve", "--alias", "gamecore@champion"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1000, help="games against the solver")
    parser.add_argument("--port", type=int, default=8900, help="port of HTTP; TCP has the next one")
    parser.add_argument("--stay", action="store_true", help="go on serving when the games are played")
    given = parser.parse_args()
    game = build()
    ports = ["--port", str(given.port), "--tcp-port", str(given.port + 1)]
    with running([*SERVE, *ports]) as server:
        wait_until_ready(given.port, server)
        where = f"tcp://127.0.0.1:{given.port + 1}"
        command = [game, where, "--tables", "8", "--against-solver", "--games", str(given.games)]
        print(
            "against the solver:",
            subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout,
        )
        if given.stay:
            server.wait()


def wait_until_ready(port: int, server: "subprocess.Popen[bytes]") -> None:
    """Until the server answers; it ends by itself where there is nothing to serve."""
    while server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    sys.exit(server.returncode or 1)


if __name__ == "__main__":
    main()
