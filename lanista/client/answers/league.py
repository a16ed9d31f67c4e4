"""The league: payoff, ratings, decisions, curves, matches and gates."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from lanista.client.answers.shape import Answer
from league.types import DecisionKind, Role, Stream

if TYPE_CHECKING:
    import pandas

PayoffStream = Literal["all", "training", "rating"]
RatingMethod = Literal["bradley_terry", "elo_online", "openskill", "alpha_rank", "nash_averaging"]

Matrix = list[list[float | None]]
Counts = list[list[int]]


class GateStatus(StrEnum):
    """Where a gate stands."""

    WAITING = "waiting"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    EXHAUSTED = "exhausted"
    """The allowed games ran out before the test decided."""
    INVALID = "invalid"
    """Stopped early: no verdict."""
    SUPERSEDED = "superseded"
    """A newer candidate took its place while it waited."""


class PayoffPlayer(Answer):
    """The player of one row, and of the column of the same number."""

    id: str
    name: str
    role: Role
    status: str


class Payoff(Answer):
    """Who does how well against whom: row against column."""

    trial_id: str
    stream: str
    revision: int
    decay: float
    min_games: int
    players: list[PayoffPlayer]
    win_rate: Matrix
    low: Matrix
    high: Matrix
    wins: Counts
    draws: Counts
    losses: Counts
    mean_return: Matrix

    def games(self, row: int, column: int) -> int:
        """How many games the two played, undecayed."""
        return self.wins[row][column] + self.draws[row][column] + self.losses[row][column]

    def to_frame(
        self, values: Literal["win_rate", "low", "high", "wins", "draws", "losses", "mean_return"] = "win_rate"
    ) -> pandas.DataFrame:
        """One of the matrices, with the players' names as rows and columns."""
        from lanista.client.frames import matrix_frame

        return matrix_frame([player.name for player in self.players], getattr(self, values))


class Fit(Answer):
    """What ratings were reckoned from."""

    id: str
    method: RatingMethod
    games: int
    last_match_id: int
    anchor_version_id: str | None
    tournament_id: str | None
    settings: dict[str, Any]
    depends_on_order: bool
    created_at: datetime


class Rating(Answer):
    """One version's place."""

    rank: int
    version_id: str
    player_id: str
    player: str
    number: int
    steps: int
    value: float
    deviation: float | None
    low: float | None
    high: float | None
    games: int
    prior: bool
    difference: float | None
    difference_low: float | None
    difference_high: float | None


class Ratings(Answer):
    """Ratings, the best first, and the fit they belong to: None while there are no rating games."""

    fit: Fit | None
    items: list[Rating]
    next_cursor: str | None = None

    def to_frame(self) -> pandas.DataFrame:
        """One row for each version."""
        from lanista.client.frames import frame_of

        return frame_of(Rating, self.items)


class Decision(Answer):
    """One verdict, the sentence that explains it, and the numbers it rests on."""

    id: int
    kind: DecisionKind
    verdict: str
    reason: str
    evidence: dict[str, Any]
    player_id: str | None
    player: str | None
    generation: int | None
    attempt: int
    version_id: str | None
    gate_id: str | None
    commit: int | None
    created_at: datetime


class Series(Answer):
    """One metric of one player, as columns of equal length."""

    player_id: str
    player: str
    name: str
    generations: list[int]
    steps: list[int]
    values: list[float | None]


class MatchSummary(Answer):
    """One finished game, without its moves."""

    id: int
    stream: Stream
    trial_id: str | None
    tournament_id: str | None
    gate_id: str | None
    round: int
    pair: int
    seat: int
    seed: int
    player_id: str
    player: str
    version_id: str
    version_number: int
    opponent_id: str
    opponent: str
    opponent_version_id: str
    opponent_version_number: int
    result: Literal["win", "draw", "loss"]
    plies: int
    played_at: datetime


class Match(MatchSummary):
    """One finished game."""

    moves: list[int]
    opening: dict[str, Any] | None


class GateSummary(Answer):
    """A candidate against the holder of an alias."""

    id: str
    trial_id: str
    game: str
    alias: str
    candidate_version_id: str
    champion_version_id: str | None
    status: GateStatus
    status_reason: str | None
    elo0: float
    elo1: float
    model: Literal["logistic", "normalized"]
    alpha: float
    beta: float
    lower_bound: float
    upper_bound: float
    max_pairs: int
    pairs: int
    pentanomial: list[int]
    llr: float
    settings: dict[str, Any]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class PathPoint(Answer):
    """The test after one batch."""

    number: int
    pairs: int
    pentanomial: list[int]
    llr: float
    created_at: datetime


class Gate(GateSummary):
    """A gate with the path of its test."""

    path: list[PathPoint]
