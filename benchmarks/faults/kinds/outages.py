"""Outages of what is outside the stack: an artifact store that answers errors, and Postgres cut off."""

from __future__ import annotations

import time

from benchmarks.faults.campaign.arena import Arena, Struck
from benchmarks.faults.grounds.outside_stores import OutsideStores

STORE_SECONDS = 60.0
"""A minute of errors."""


def fail_artifact_store(arena: Arena) -> Struck:
    """Every request to the artifact store is answered by 503 for a minute."""
    proxy = _ground(arena).s3_proxy
    proxy.set_mode("error")
    try:
        time.sleep(STORE_SECONDS)
    finally:
        proxy.set_mode("open")
    return Struck(mark=arena.mark(), note=f"{STORE_SECONDS:.0f} s")


def cut_postgres(arena: Arena) -> Struck:
    """Postgres refuses connections, or silently loses what is sent to it, for 5 to 40 seconds."""
    proxy = _ground(arena).postgres_proxy
    silent = arena.rng.random() < 0.5
    seconds = arena.rng.uniform(5.0, 40.0)
    proxy.set_mode("silent" if silent else "cut")
    try:
        time.sleep(seconds)
    finally:
        proxy.set_mode("open")
    ended = time.monotonic()
    mark = arena.mark()
    mark.at = ended
    return Struck(mark=mark, note=f"{'silent' if silent else 'refused'} for {seconds:.0f} s")


def _ground(arena: Arena) -> OutsideStores:
    assert isinstance(arena.ground, OutsideStores)
    return arena.ground
