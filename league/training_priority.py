"""Training priority: which player trains next where many players share few crews.

See docs/decisions/crews.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from league.types import PlayerId

GENERATIONS_COMPARED = 10
"""Only this many recent generations of each learner are compared, which bounds how far a new player can be behind."""
BEHIND, FAR_BEHIND = 1, 3
"""Thresholds in generations. Where players take turns, usually none is behind."""


class Urgency(IntEnum):
    """The lowest value is served first; equal values first come, first served."""

    FAR_BEHIND = 1
    BEHIND = 2
    IN_STEP = 3


def urgency(player: PlayerId, recorded: Mapping[PlayerId, int]) -> Urgency:
    """The player's urgency, from the recent generations that each player has recorded.

    Taking turns preserves a gap from a late start or a failed attempt; urgency closes it. A player that is not in
    `recorded` has left the league, and is not urgent.
    """
    if player not in recorded:
        return Urgency.IN_STEP
    behind = max(recorded.values()) - recorded[player]
    if behind >= FAR_BEHIND:
        return Urgency.FAR_BEHIND
    return Urgency.BEHIND if behind >= BEHIND else Urgency.IN_STEP
