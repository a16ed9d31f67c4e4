"""The league's words as values: ids, roles, plans, tallies, decisions. Stdlib only, so that workflows may import it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NewType

TrialId = NewType("TrialId", str)
PlayerId = NewType("PlayerId", str)
VersionId = NewType("VersionId", str)


class Role(StrEnum):
    """What a player is in the league for."""

    MAIN = "main"
    MAIN_EXPLOITER = "main_exploiter"
    LEAGUE_EXPLOITER = "league_exploiter"
    HISTORICAL = "historical"
    BOT = "bot"

    @property
    def learns(self) -> bool:
        return self not in (Role.HISTORICAL, Role.BOT)


class Stream(StrEnum):
    """Where a game comes from. Ratings use `rating` only; `gating` counts for its gate and nowhere else."""

    TRAINING = "training"
    GATING = "gating"
    RATING = "rating"


class DecisionKind(StrEnum):
    MATCHMAKING = "matchmaking"
    SNAPSHOT = "snapshot"
    PROMOTION = "promotion"
    RESET = "reset"
    ROLLBACK = "rollback"


@dataclass(frozen=True, kw_only=True)
class CheckpointRef:
    """A content-addressed checkpoint: where it lies and what its bytes must hash to."""

    uri: str
    sha256: str
    size: int


@dataclass(frozen=True, kw_only=True)
class Opponent:
    """One opponent of a match plan: how likely, and by which branch of its rule, or branches joined by `+`."""

    player: PlayerId
    probability: float
    branch: str
    win_rate: float | None = None
    """The learner's win rate against it in the payoff snapshot the plan was made from; None while unknown."""


@dataclass(frozen=True, kw_only=True)
class MatchPlan:
    """Whom a learner plays in one generation, and why; every opponent comes once, probabilities sum to 1."""

    learner: PlayerId
    rule: str
    opponents: tuple[Opponent, ...]
    payoff_revision: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Earned:
    """What both sides earned in the same games, summed; in a zero-sum game of two, one is minus the other."""

    own: float = 0.0
    other: float = 0.0

    @property
    def margin(self) -> float:
        """Half the difference: the first side's own return where the game is zero-sum, and always antisymmetric."""
        return (self.own - self.other) / 2

    def mirrored(self) -> Earned:
        """The same games from the other side."""
        return Earned(self.other, self.own)


@dataclass(frozen=True, kw_only=True)
class ReturnTally:
    """Returns of games of one seat: how many, their mean, and the sum of squared deviations from it."""

    games: int
    mean: float
    deviations: float


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Results of one model version against another, from the first one's view, in one seat of one stream."""

    learner: VersionId
    opponent: VersionId
    seat: int
    wins: int = 0
    draws: int = 0
    losses: int = 0
    opponent_seat: int | None = None
    """None in a game of two seats: the other one."""
    earned: Earned | None = None
    """What the two sides earned in these games; None where nobody kept count."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Why something was done: the verdict, one sentence for a person, and the numbers it rests on."""

    kind: DecisionKind
    verdict: str
    reason: str
    evidence: dict[str, Any] = field(default_factory=dict)
