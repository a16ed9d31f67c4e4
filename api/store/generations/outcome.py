"""The result of one training attempt, and the generation that was recorded from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from api.store.core.errors import Conflict
from league.types import CheckpointRef, Decision, Earned, LineupTally, ReturnTally


@dataclass(frozen=True, kw_only=True)
class OpponentTally:
    """Training games of the learner against one version, from the learner's view, in one seating."""

    opponent_version_id: str
    seat: int
    wins: int = 0
    draws: int = 0
    losses: int = 0
    opponent_seat: int | None = None
    """The opponent's team; None in games of two teams, where it is the other one."""
    earned: Earned | None = None
    """Returns of the learner and the opponent in these games; None if they were not counted."""

    def __post_init__(self) -> None:
        if self.opponent_seat is None and self.seat not in (0, 1):
            raise Conflict(f"a tally from seat {self.seat} must name the opponent's seat")

    @property
    def seating(self) -> tuple[int, int]:
        """The seats of the learner and of the opponent."""
        return self.seat, 1 - self.seat if self.opponent_seat is None else self.opponent_seat

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses


@dataclass(frozen=True, kw_only=True)
class TrainedGeneration:
    """Everything that one attempt at a generation produced."""

    trial_id: str
    player_id: str
    generation: int
    parent_version_id: str
    checkpoint: CheckpointRef
    steps: int
    games: int
    seed: int
    started_at: datetime
    finished_at: datetime
    attempt: int = 1
    plan_decision_id: int | None = None
    tallies: tuple[OpponentTally, ...] = ()
    """At most one for each opponent's version and seating."""
    returns: ReturnTally | None = None
    """Returns of a game of one team, which has no opponent and so no tallies."""
    lineups: tuple[LineupTally, ...] = ()
    """Games in which the learner shared its team with a mate; they are in no payoff."""
    metrics: dict[str, float] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    matchmaker_state: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class RecordedGeneration:
    """The recorded outcome, the same for every delivery."""

    player_id: str
    generation: int
    commit: int
    version_id: str
    version_number: int
    sha256: str | None
    player_steps: int
    """The player's steps after this generation."""
    won: bool
    """Whether this delivery was recorded; the checkpoint of another one is garbage if its hash differs."""
