"""SIGKILL: a part, several parts at once, the supervisor, and everything."""

from __future__ import annotations

import signal
import time

from benchmarks.faults.campaign.arena import Arena, Struck
from benchmarks.faults.striking import NEED_A_START, pids_of, send

SEVERAL = ("store-worker", "train-worker", "api", "temporal", "postgres", "ray actor", "ray head")


def kill(arena: Arena, kind: str) -> Struck:
    """Kill one kind of process; where the supervisor died too, start the stack again, which counts as waiting."""
    mark = arena.mark()
    send(pids_of(arena.stack, kind, arena.rng), signal.SIGKILL)
    mark.at = time.monotonic()
    if kind in NEED_A_START:
        arena.start_stack()
    return Struck(mark=mark)


def kill_several(arena: Arena) -> Struck:
    """Kill two to four parts in the same instant."""
    state = arena.stack.home.read_state()
    assert state is not None
    present = [kind for kind in SEVERAL if kind.startswith("ray") or kind in state.children]
    kinds = arena.rng.sample(present, arena.rng.randint(2, 4))
    mark = arena.mark()
    pids = [pid for kind in kinds for pid in pids_of(arena.stack, kind, arena.rng)]
    send(pids, signal.SIGKILL)
    mark.at = time.monotonic()
    return Struck(mark=mark, note=", ".join(kinds))
