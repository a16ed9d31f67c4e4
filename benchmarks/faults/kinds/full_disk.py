"""A full disk: no checkpoint can be written for some seconds."""

from __future__ import annotations

import time

from benchmarks.faults.campaign.arena import Arena, Struck
from benchmarks.faults.grounds.small_disk import SmallDisk


def fill_disk(arena: Arena) -> Struck:
    """Take all the space of the artifacts' disk for 5 to 30 seconds."""
    ground = arena.ground
    assert isinstance(ground, SmallDisk)
    seconds = arena.rng.uniform(5.0, 30.0)
    ground.fill()
    try:
        time.sleep(seconds)
    finally:
        ground.free()
    return Struck(mark=arena.mark(), note=f"{seconds:.0f} s")
