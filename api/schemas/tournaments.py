"""Tournaments, their entrants, pairings and standings."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from api.schemas.base import Answer, Body, Utc
from api.schemas.enums import PairingStatus, TournamentFormat, TournamentPurpose, TournamentStatus
from api.schemas.reports import ReportLine

SPEC_EXAMPLE = {"trial": "first-league", "format": "swiss", "entrants": ["latest", "snapshots", "bot:random"]}


class Tournament(Answer):
    """A tournament."""

    id: str = Field(description="its id")
    project: str = Field(description="its project", examples=["connect-four"])
    trial_id: str | None = Field(description="the trial it is about; null: the whole project")
    schedule_id: str | None = Field(description="the schedule that started it")
    name: str = Field(description="its name", examples=["nightly"])
    game: str = Field(description="the game, with its options", examples=["connect_four"])
    format: TournamentFormat = Field(description="its format", examples=["swiss"])
    purpose: TournamentPurpose = Field(
        TournamentPurpose.REQUEST,
        description="why it was created: a user's request, a schedule, or the evaluation of a generation",
    )
    status: TournamentStatus = Field(description="its status", examples=["running"])
    status_reason: str | None = Field(description="why it has this status", examples=["cancelled by an operator"])
    seed: int = Field(description="seed of its pairings and games", examples=[7])
    entrants: int = Field(description="number of entrants", examples=[24])
    pairings_played: int = Field(description="pairings recorded, byes included", examples=[30])
    pairings_known: int = Field(description="pairings planned so far; later rounds are planned from results")
    created_at: Utc = Field(description="when it was created")
    started_at: Utc | None = Field(description="when it started")
    finished_at: Utc | None = Field(description="when it ended")
    spec: dict[str, Any] = Field(description="its file, with defaults", examples=[SPEC_EXAMPLE])


class Entrant(Answer):
    """A version that takes part."""

    number: int = Field(description="its number, which is its seeding", examples=[0])
    label: str = Field(description="its name in tables", examples=["main v12"])
    version_id: str = Field(description="the version")


class Pairing(Answer):
    """Two entrants in one round; their games are one batch."""

    round: int = Field(description="the round", examples=[0])
    pair: int = Field(description="the pairing within the round", examples=[3])
    first: str = Field(description="the first entrant's label", examples=["main v12"])
    second: str | None = Field(description="the second entrant's label; null: a bye", examples=["random"])
    games: int = Field(description="number of games", examples=[20])
    seed: int = Field(description="seed of its games")
    status: PairingStatus = Field(description="planned, played or cancelled", examples=["played"])
    wins: int = Field(description="games won by the first", examples=[12])
    draws: int = Field(description="games drawn", examples=[5])
    losses: int = Field(description="games lost by the first", examples=[3])
    played_at: Utc | None = Field(description="when it was recorded")


class Standings(Answer):
    """The standings after the games recorded so far."""

    status: str = Field(description="the tournament's status", examples=["running"])
    anchor: str = Field(description="the entrant at 0 Elo", examples=["random"])
    leads: str = Field(description="whether the first leads all others by more than chance, in words")
    items: list[ReportLine] = Field(description="the lines of this page, the best first")
    next_cursor: str | None = Field(description="the cursor of the next page; null on the last one")


class Cancel(Body):
    """The reason for cancelling a tournament."""

    reason: str = Field(
        default="cancelled by an operator",
        min_length=1,
        max_length=500,
        pattern=r"^[^\x00]*$",
        description="why; kept in the tournament and in the audit log",
    )


class ReportForm(StrEnum):
    """File format of a report."""

    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    HTML = "html"
