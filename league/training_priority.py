"""Training priority: which player trains next, and how far one may lead, where players share crews.

See docs/decisions/crews.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
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


LEAD_SHARE = 0.1
"""A player may lead another by this share of the other's steps, or by one generation where that is more."""
SHORTEST_PATIENCE = timedelta(seconds=60)


@dataclass(frozen=True, kw_only=True)
class TrainingStanding:
    """How far a player is, compared with the others of its league."""

    steps: int
    """Recorded since the newest learner joined the league."""
    silent: timedelta
    """How long ago it last recorded or planned a generation."""
    in_flight: bool = True
    """Whether its next generation is planned: it trains, or waits for a crew."""


def records_after(
    player: PlayerId, trained: int, took: timedelta, standings: Mapping[PlayerId, TrainingStanding]
) -> PlayerId | None:
    """The player whose next record comes before this player's generation of `trained` steps; None if there is none.

    Recording now would lead that player by more than one generation and by more than LEAD_SHARE of its steps. The
    player with the fewest steps never waits.
    """
    behind = _too_far_behind(player, trained, took, standings)
    return min(behind, key=lambda name: standings[name].steps, default=None)


def queues_after(
    player: PlayerId, steps: int, took: timedelta, standings: Mapping[PlayerId, TrainingStanding]
) -> PlayerId | None:
    """The player that queues for a crew before this one, which would have to wait for its record in any case.

    Without this rule the players ahead take all crews while the one behind, on which they wait, prepares its next
    generation; it would then train alone.
    """
    behind = _too_far_behind(player, steps, took, standings)
    return min((name for name in behind if not standings[name].in_flight), default=None)


def _too_far_behind(
    player: PlayerId, trained: int, took: timedelta, standings: Mapping[PlayerId, TrainingStanding]
) -> list[PlayerId]:
    """The players that this one would lead too far after `trained` more steps.

    A player that is further behind than GENERATIONS_COMPARED generations, or silent for longer than `patience`, is not
    waited for: it failed for a long time, or an earlier release left it behind.
    """
    total, limit = standings[player].steps + trained, patience(took, len(standings))

    def led_too_far(other: TrainingStanding) -> bool:
        lead, allowed = total - other.steps, max(trained, LEAD_SHARE * other.steps)
        return allowed < lead <= (GENERATIONS_COMPARED + 1) * trained and other.silent <= limit

    return [name for name, other in standings.items() if name != player and led_too_far(other)]


def patience(took: timedelta, learners: int) -> timedelta:
    """How long a generation waits for another player: one round of all learners on a single crew."""
    return max(SHORTEST_PATIENCE, took * (learners + 1))
