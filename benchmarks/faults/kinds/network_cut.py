"""A network cut between two hosts: the other host's train worker loses Temporal, and does not know."""

from __future__ import annotations

import time

from benchmarks.faults.campaign.arena import Arena, Struck
from benchmarks.faults.grounds.two_hosts import TwoHosts


def cut_network(arena: Arena) -> Struck:
    """Unplug the cable for 10 to 60 seconds."""
    ground = arena.ground
    assert isinstance(ground, TwoHosts)
    seconds = arena.rng.uniform(10.0, 60.0)
    ground.cut()
    try:
        time.sleep(seconds)
    finally:
        ground.mend()
    return Struck(mark=arena.mark(), note=f"{seconds:.0f} s")
