"""The outcome of one attack."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What an attacker tried and saw."""

    attacker: str
    """nobody, browser, viewer, operator or code."""
    attack: str
    held: bool
    """Whether the stack withstood it."""
    seen: str
    """What the attacker saw: a status, an error, or what leaked."""
