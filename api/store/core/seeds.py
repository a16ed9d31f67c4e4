"""Seeds from names: what is random in a trial follows from its seed and from what it is for."""

from __future__ import annotations

import hashlib
import json


def derived_seed(*parts: int | str) -> int:
    """A number of 53 bits, which every database, JSON reader and browser keeps exactly; equal parts give equal ones."""
    digest = hashlib.sha256(json.dumps(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 11
