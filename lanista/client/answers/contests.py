"""Tournaments, their results, and schedules of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from lanista.client.answers.shape import Answer

TournamentFormat = Literal["round_robin", "gauntlet", "swiss", "knockout", "adaptive"]
TournamentStatus = Literal["pending", "running", "completed", "cancelled", "failed"]
PairingStatus = Literal["planned", "played", "cancelled"]
Overlap = Literal["skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all"]


class Tournament(Answer):
    """A tournament."""

    id: str
    project: str
    trial_id: str | None
    schedule_id: str | None
    name: str
    game: str
    format: TournamentFormat
    status: TournamentStatus
    status_reason: str | None
    seed: int
    entrants: int
    pairings_played: int
    pairings_known: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    spec: dict[str, Any]


class Entrant(Answer):
    """A version in the field."""

    number: int
    label: str
    version_id: str


class Pairing(Answer):
    """Two entrants in one round, their games one batch."""

    round: int
    pair: int
    first: str
    second: str | None
    games: int
    seed: int
    status: PairingStatus
    wins: int
    draws: int
    losses: int
    played_at: datetime | None


class ReportLine(Answer):
    """One entrant."""

    rank: int
    number: int
    label: str
    version_id: str
    points: float
    games: int
    wins: int
    draws: int
    losses: int
    byes: int
    buchholz: float
    sonneborn_berger: float
    elo: float
    low: float
    high: float
    prior: bool
    withdrawn: str | None


class Standings(Answer):
    """The table as it stands."""

    status: str
    anchor: str
    leads: str
    items: list[ReportLine]
    next_cursor: str | None


class CrossCell(Answer):
    """All games of two entrants, from the first one's view."""

    first: int
    second: int
    wins: int
    draws: int
    losses: int


class Upset(Answer):
    """A pairing that the weaker side won."""

    round: int
    pair: int
    winner: str
    loser: str
    score: float
    expected: float


class InstructiveGame(Answer):
    """A game whose result nobody would have bet on."""

    match_id: int
    round: int
    pair: int
    winner: str
    loser: str
    expected: float
    surprise_bits: float
    plies: int


class TournamentReport(Answer):
    """A tournament, whole."""

    id: str
    name: str
    project: str
    game: str
    format: str
    status: str
    status_reason: str | None
    seed: int
    finished_at: datetime | None
    games: int
    anchor: str
    leads: str
    standings: list[ReportLine]
    cross_table: list[CrossCell]
    upsets: list[Upset]
    instructive_games: list[InstructiveGame]


class Schedule(Answer):
    """A schedule."""

    id: str
    project: str
    trial_id: str | None
    name: str
    cron: str | None
    every_seconds: int | None
    time_zone: str
    overlap: Overlap
    catchup_window_seconds: int
    paused: bool
    pause_note: str | None
    last_error: str | None
    revision: int
    taken: bool
    created_at: datetime
    tournament: dict[str, Any]
    fired: int | None = None
    skipped_overlap: int | None = None
    missed_catchup: int | None = None
    next: list[datetime] | None = None
