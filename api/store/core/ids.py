"""Ids that sort by creation time: UUID version 7 (RFC 9562), as text in Python, 16 bytes in Postgres.

See docs/decisions/store.md.
"""

from __future__ import annotations

import secrets
import threading
import time
import uuid

_COUNTER_BITS = 12
_RANDOM_BITS = 62
_lock = threading.Lock()
_last_tick = 0


def new_id() -> str:
    """A new id, greater than every earlier id of this process."""
    global _last_tick
    with _lock:
        # milliseconds and the counter are one number, so it increases even within one millisecond and when the clock
        # is set back
        _last_tick = max(_last_tick + 1, (time.time_ns() // 1_000_000) << _COUNTER_BITS)
        tick = _last_tick
    milliseconds, counter = divmod(tick, 1 << _COUNTER_BITS)
    value = milliseconds << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | secrets.randbits(_RANDOM_BITS)
    return str(uuid.UUID(int=value))
