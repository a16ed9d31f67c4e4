"""Value types of the league: ids, roles, plans, tallies, decisions. Stdlib only, so that workflows can import them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NewType

TrialId = NewType("TrialId", str)
PlayerId = NewType("PlayerId", str)
VersionId = NewType("VersionId", str)


class Role(StrEnum):
    """A player's role in the league."""

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
    POPULATION = "population"
    """Whether a member of a population takes over the weights of a better one."""


@dataclass(frozen=True, kw_only=True)
class CheckpointRef:
    """Reference to a content-addressed checkpoint: its URI, hash and size."""

    uri: str
    sha256: str
    size: int


@dataclass(frozen=True, kw_only=True)
class Opponent:
    """One opponent of a match plan: its probability, and the branches of the rule that chose it, joined by `+`."""

    player: PlayerId
    probability: float
    branch: str
    win_rate: float | None = None
    """The learner's win rate against it at the plan's payoff revision; None while unknown."""


@dataclass(frozen=True, kw_only=True)
class MatchPlan:
    """The opponents of a learner in one generation; each opponent occurs once, probabilities sum to 1."""

    learner: PlayerId
    rule: str
    opponents: tuple[Opponent, ...]
    payoff_revision: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Earned:
    """Summed returns of both sides in the same games; in a two-player zero-sum game they sum to 0."""

    own: float = 0.0
    other: float = 0.0

    @property
    def margin(self) -> float:
        """Half the difference: antisymmetric, and equal to `own` in a zero-sum game."""
        return (self.own - self.other) / 2

    def mirrored(self) -> Earned:
        """The same games from the opponent's view."""
        return Earned(self.other, self.own)


@dataclass(frozen=True, kw_only=True)
class ReturnTally:
    """Returns of games of one team: their number, their mean, and the sum of squared deviations from it."""

    games: int
    mean: float
    deviations: float


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Results of one model version against another in one team, from the first version's view.

    `seat` is the number of the team; where each seat is a team of its own, that is the seat.
    """

    learner: VersionId
    opponent: VersionId
    seat: int
    wins: int = 0
    draws: int = 0
    losses: int = 0
    opponent_seat: int | None = None
    """The other's team; None in a game of two teams, where it is the other one."""
    earned: Earned | None = None
    """Returns of both sides in these games; None where they were not recorded."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses


@dataclass(frozen=True, kw_only=True)
class LineupTally:
    """Results of a mixed line-up: a team that the learner shares with a mate. They count for nobody's own entry."""

    learner: VersionId
    lineup: tuple[VersionId, ...]
    """The version in each seat of the team, in the order of the seats."""
    opponent: VersionId | None
    """The version in all other teams; None in a game of one team."""
    seat: int
    """The number of the line-up's team."""
    opponent_seat: int | None
    wins: int = 0
    draws: int = 0
    losses: int = 0
    earned: Earned | None = None
    returns: ReturnTally | None = None
    """In a game of one team: its returns."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses if self.returns is None else self.returns.games


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A recorded decision: its verdict, a reason in one sentence, and the numbers it is based on."""

    kind: DecisionKind
    verdict: str
    reason: str
    evidence: dict[str, Any] = field(default_factory=dict)
