"""The report of a tournament: standings, cross table, upsets and instructive games."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from api.schemas.base import Answer


class ReportLine(Answer):
    """The line of one entrant in the standings."""

    rank: int = Field(
        description="by points, then Buchholz, then Sonneborn-Berger; in a knockout by how far it came, so that the "
        "beaten finalist is second and both beaten semi-finalists are third",
        examples=[1],
    )
    number: int = Field(description="the entrant's number", examples=[0])
    label: str = Field(description="its name in tables", examples=["main v12"])
    version_id: str = Field(description="its version")
    points: float = Field(
        description="wins and half of the draws; a bye or a walkover counts its batch's points", examples=[31.5]
    )
    games: int = Field(description="games played", examples=[40])
    wins: int = Field(description="games won", examples=[28])
    draws: int = Field(description="games drawn", examples=[7])
    losses: int = Field(description="games lost", examples=[5])
    byes: int = Field(description="rounds without an opponent, also after a withdrawal", examples=[0])
    buchholz: float = Field(description="points of all opponents", examples=[120.0])
    sonneborn_berger: float = Field(
        description="points of beaten opponents, and half of those drawn with", examples=[88.5]
    )
    elo: float = Field(description="Bradley-Terry over this tournament's games, the anchor at 0", examples=[212.0])
    low: float = Field(description="lower end of its 95 % interval against the anchor", examples=[150.0])
    high: float = Field(description="upper end of that interval", examples=[274.0])
    prior: bool = Field(description="true: only the stated prior keeps it finite (all won, all lost, or unconnected)")
    withdrawn: str | None = Field(
        description="why it was withdrawn; null: it was not", examples=["its checkpoint is damaged"]
    )
    value: float | None = Field(None, description="the same as `elo`, as ratings name it", examples=[212.0])


class CrossCell(Answer):
    """All games of two entrants, from the first one's view."""

    first: int = Field(description="number of the first", examples=[0])
    second: int = Field(description="number of the second", examples=[1])
    wins: int = Field(description="games won by the first", examples=[11])
    draws: int = Field(description="games drawn", examples=[4])
    losses: int = Field(description="games lost by the first", examples=[5])


class Upset(Answer):
    """A pairing won by the lower-rated side."""

    round: int = Field(description="the round", examples=[2])
    pair: int = Field(description="the pairing within the round", examples=[0])
    winner: str = Field(description="label of the winner", examples=["main v3"])
    loser: str = Field(description="label of the favourite", examples=["main v12"])
    score: float = Field(description="the winner's share of the points", examples=[0.65])
    expected: float = Field(description="its expected share by the ratings", examples=[0.31])


class InstructiveGame(Answer):
    """A game with a very unlikely result."""

    match_id: int = Field(description="the match, for its replay", examples=[4711])
    round: int = Field(description="the round", examples=[2])
    pair: int = Field(description="the pairing within the round", examples=[0])
    winner: str = Field(description="label of the winner", examples=["random"])
    loser: str = Field(description="label of the loser", examples=["minimax-0.9"])
    expected: float = Field(description="the winner's expected score before the game", examples=[0.02])
    surprise_bits: float = Field(description="-log2 of the expected score", examples=[5.6])
    plies: int = Field(description="its length", examples=[7])


class TournamentReport(Answer):
    """The report of a tournament."""

    id: str = Field(description="the tournament's id")
    name: str = Field(description="its name", examples=["nightly"])
    project: str = Field(description="its project", examples=["connect-four"])
    game: str = Field(description="the game", examples=["connect_four"])
    format: str = Field(description="its format", examples=["swiss"])
    status: str = Field(description="its status", examples=["completed"])
    status_reason: str | None = Field(description="why it has this status")
    seed: int = Field(description="seed of its pairings and games", examples=[7])
    finished_at: datetime | None = Field(description="when it ended")
    games: int = Field(description="games played", examples=[480])
    anchor: str = Field(description="the entrant at 0 Elo", examples=["random"])
    leads: str = Field(description="whether the first leads all others by more than chance, in words")
    standings: list[ReportLine] = Field(description="the standings, the best first")
    cross_table: list[CrossCell] = Field(description="one cell for each two entrants that met")
    upsets: list[Upset] = Field(description="the upsets, the largest first")
    instructive_games: list[InstructiveGame] = Field(description="unlikely results, the most surprising first")
