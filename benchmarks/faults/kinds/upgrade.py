"""An upgrade in the middle: the code of the commit before, then this one."""

from __future__ import annotations

import time

from benchmarks.faults.campaign.arena import Arena, Struck
from benchmarks.faults.grounds.older_code import OlderCode


def upgrade(arena: Arena) -> Struck:
    """Stop the stack, and start it with this code, which migrates the database and replays the workflows.

    Waiting counts from the end of the stop. The count of commits is read once Postgres answers again.
    """
    ground = arena.ground
    assert isinstance(ground, OlderCode) and not ground.upgraded, "a piece is upgraded once"
    ground.upgrade()
    stopped = time.monotonic()
    arena.start_stack()
    mark = arena.mark()
    mark.at = stopped
    return Struck(mark=mark)
