"""Events about tournaments, their pairings and their schedules."""

from __future__ import annotations

from pydantic import Field

from api.schemas.events.base import EventPayload, Id, Level, OptionalId
from api.schemas.events.wording import because, counted, joined, spelled

ENDS = {"completed": "is completed", "cancelled": "was cancelled", "failed": "failed"}


class TournamentPayload(EventPayload):
    """About one tournament."""

    tournament_id: Id = ""
    project_id: OptionalId = None
    name: str = Field("", description="the tournament's name", examples=["nightly"])
    format: str | None = Field(None, examples=["round_robin"])

    @property
    def tournament(self) -> str:
        """The tournament in words."""
        return f"Tournament {self.name}" if self.name else "A tournament"


class TournamentCreated(TournamentPayload, kind="tournament.created"):
    """A tournament was created with its entrants."""

    entrants: int | None = Field(None, description="how many entrants", examples=[8])

    @property
    def text(self) -> str:
        entrants = "" if self.entrants is None else counted(self.entrants, "entrant")
        return f"{self.tournament} was created{because(joined(entrants, spelled(self.format or '')))}"


class TournamentStarted(TournamentPayload, kind="tournament.started"):
    """A tournament started to play its first pairings."""

    @property
    def text(self) -> str:
        return f"{self.tournament} started"


class PairingPlayed(TournamentPayload, kind="pairing.played", transient=True):
    """All games of a pairing were recorded."""

    round: int = Field(0, examples=[1])
    pair: int = Field(0, examples=[3])
    first: str = Field("", description="the first entrant's name", examples=["main-1"])
    second: str = Field("", description="the second entrant's name", examples=["random"])
    wins: int = Field(0, description="of the first entrant", examples=[18])
    draws: int = Field(0, examples=[1])
    losses: int = Field(0, examples=[1])
    different_games: int | None = Field(None, description="how many of the games differ in their moves", examples=[2])

    @property
    def text(self) -> str:
        met = f"{self.first or 'an entrant'} against {self.second or 'an entrant'}"
        score = f"{counted(self.wins, 'win')}, {counted(self.draws, 'draw')}, {self.losses:,} " + (
            "loss" if self.losses == 1 else "losses"
        )
        return f"{self.tournament}: {met}, {score}" + (", one game repeated" if self.repeats else "")

    @property
    def repeats(self) -> bool:
        """Whether the games are copies of each other, one from each seat."""
        games = self.wins + self.draws + self.losses
        return self.different_games is not None and self.different_games <= 2 < games


class TournamentWithdrawn(TournamentPayload, kind="tournament.withdrawn"):
    """An entrant was withdrawn."""

    entrant: str = Field("", description="the entrant's name", examples=["main-1"])
    version_id: Id = ""
    reason: str = Field("", examples=["its checkpoint is damaged: the file is cut short"])
    walkovers: int = Field(0, description="pairings that its opponents win without a game", examples=[3])

    @property
    def text(self) -> str:
        tournament = f"tournament {self.name}" if self.name else "a tournament"
        return f"{self.entrant or 'An entrant'} was withdrawn from {tournament}{because(self.reason)}"

    @property
    def level(self) -> Level:
        return "bad"


class TournamentJudged(TournamentPayload, kind="tournament.judged"):
    """A tournament decided whether to move an alias."""

    alias: str = Field("", examples=["champion"])
    verdict: str = Field("", description="promoted or kept", examples=["promoted"])
    reason: str = Field("", examples=["main-2 leads the whole field: +80 Elo over main-1"])

    @property
    def text(self) -> str:
        alias = self.alias or "the alias"
        decided = f"moves {alias}" if self.verdict == "promoted" else f"leaves {alias} as it is"
        return f"{self.tournament} {decided}{because(self.reason)}"


class TournamentFinished(TournamentPayload, kind="tournament.finished"):
    """A tournament is over."""

    status: str = Field("", description="completed, cancelled or failed", examples=["cancelled"])
    reason: str | None = Field(None, examples=["on request"])
    cancelled_pairings: int = Field(0, examples=[4])

    @property
    def text(self) -> str:
        return f"{self.tournament} {ENDS.get(self.status, 'is over')}{because(self.reason)}"

    @property
    def level(self) -> Level:
        return "bad" if self.status == "failed" else "plain"


class SchedulePayload(EventPayload):
    """About one schedule of tournaments."""

    schedule_id: Id = ""
    name: str = Field("", description="the schedule's name", examples=["every-night"])
    revision: int | None = Field(None, examples=[2])

    @property
    def schedule(self) -> str:
        """The schedule in words."""
        return f"Schedule {self.name}" if self.name else "A schedule"


class ScheduleCreated(SchedulePayload, kind="schedule.created"):
    """A schedule was created."""

    @property
    def text(self) -> str:
        return f"{self.schedule} was created"


class ScheduleChanged(SchedulePayload, kind="schedule.changed"):
    """A schedule was paused, resumed or given other times."""

    paused: bool | None = Field(None, examples=[True])

    @property
    def text(self) -> str:
        return f"{self.schedule} was changed" + (" and is paused" if self.paused else "")


class ScheduleDeleted(SchedulePayload, kind="schedule.deleted"):
    """A schedule was deleted; its tournaments stay."""

    @property
    def text(self) -> str:
        return f"{self.schedule} was deleted"


class ScheduleFailed(SchedulePayload, kind="schedule.failed"):
    """A schedule was due and could open no tournament."""

    reason: str = Field("", examples=["a tournament needs at least two entrants"])

    @property
    def text(self) -> str:
        return f"{self.schedule} could not open its tournament{because(self.reason)}"

    @property
    def level(self) -> Level:
        return "bad"
