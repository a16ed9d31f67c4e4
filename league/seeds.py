"""Derived seeds: a function of the trial's seed and of the purpose."""

from __future__ import annotations

import hashlib
import json


def derived_seed(*parts: int | str) -> int:
    """A number of 53 bits, which JSON and browsers represent exactly; equal parts give equal numbers."""
    digest = hashlib.sha256(json.dumps(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 11
