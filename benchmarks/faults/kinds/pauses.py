"""SIGSTOP: a part that hangs for 10 to 90 seconds, and lives."""

from __future__ import annotations

import signal
import time

from benchmarks.faults.campaign.arena import Arena, Struck
from benchmarks.faults.striking import pids_of, send

SHORTEST, LONGEST = 10.0, 90.0
PAUSED = ("store-worker", "train-worker", "api", "temporal", "postgres", "ray actor", "ray head", "supervisor")


def pause(arena: Arena) -> Struck:
    """Stop one part, wait, and let it continue. Short pauses are drawn more often than long ones."""
    state = arena.stack.home.read_state()
    assert state is not None
    kind = arena.rng.choice([name for name in PAUSED if name in state.children or name not in ("postgres",)])
    seconds = SHORTEST * (LONGEST / SHORTEST) ** arena.rng.random()
    pids = pids_of(arena.stack, kind, arena.rng)
    send(pids, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        send(pids, signal.SIGCONT)
    ended = time.monotonic()
    mark = arena.mark()
    mark.at = ended
    return Struck(mark=mark, note=f"{kind} for {seconds:.0f} s")
