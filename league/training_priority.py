"""Whose turn it is to train, where many players share few crews.

See docs/decisions/crews.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from league.types import PlayerId

GENERATIONS_COMPARED = 10
"""The newest generations of each learner that are compared: what a newcomer or a long absence is behind is bounded."""
BEHIND, FAR_BEHIND = 1, 3
"""Generations. Where turns are taken, as a rule nobody who asks for the next one is behind at all."""


class Urgency(IntEnum):
    """The lowest is served first; equals in the order in which they come."""

    FAR_BEHIND = 1
    BEHIND = 2
    IN_STEP = 3


def urgency(player: PlayerId, recorded: Mapping[PlayerId, int]) -> Urgency:
    """How soon the player is to train, by the generations that it and the others have recorded of late.

    Turns alone keep a distance that once arose, from a late start or an attempt that failed; this lets it close.
    Who is not among them has left, and is in no hurry.
    """
    if player not in recorded:
        return Urgency.IN_STEP
    behind = max(recorded.values()) - recorded[player]
    if behind >= FAR_BEHIND:
        return Urgency.FAR_BEHIND
    return Urgency.BEHIND if behind >= BEHIND else Urgency.IN_STEP
