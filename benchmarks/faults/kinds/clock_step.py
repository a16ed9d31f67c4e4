"""The clock of one process stepped by a minute, forward or back, and set right again."""

from __future__ import annotations

import time

from benchmarks.faults.campaign.arena import Arena, Struck
from benchmarks.faults.grounds.own_clocks import PARTS, OwnClocks

STEP = 60


def step_clock(arena: Arena) -> Struck:
    """Step a part's clock; it runs so for 10 to 30 seconds, until the step back."""
    ground = arena.ground
    assert isinstance(ground, OwnClocks)
    part = arena.rng.choice(sorted(PARTS))
    step = arena.rng.choice((-STEP, STEP))
    ground.step(part, step)
    try:
        time.sleep(arena.rng.uniform(10.0, 30.0))
    finally:
        ground.step(part, 0)
    return Struck(mark=arena.mark(), note=f"{part} by {step:+d} s")
