"""A fake game that calls in: someone walks along a corridor until they reach an end or the time is up.

    python fake_game.py http://127.0.0.1:8810 [GAMES]

Try it against a fake agent: `lanista fake agent --port 8810 --tick right`.
"""

import json
import sys

from lanista_gamecore import Gateway

LENGTH, TICKS = 9, 20


def play(gateway: Gateway) -> int:
    """One game; the walker's last place."""
    game = gateway.session()
    place = LENGTH // 2
    game.start(json.dumps({"length": LENGTH}).encode())
    for tick in range(TICKS):
        reply = game.tick(json.dumps({"tick": tick, "place": place}).encode())
        place += {b"right": 1, b"left": -1}.get(reply, 0)
        if place in (0, LENGTH - 1):
            break
    game.end(json.dumps({"place": place}).encode())
    return place


if __name__ == "__main__":
    with Gateway(sys.argv[1]) as gateway:
        for number in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
            print(f"game {number + 1} ended at {play(gateway)}")
