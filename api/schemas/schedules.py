"""Schedules of tournaments."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from api.schemas.base import Answer, Body, Utc
from api.schemas.enums import Overlap
from api.schemas.tournaments import SPEC_EXAMPLE

Note = Annotated[str, Field(max_length=500, pattern=r"^[^\x00]*$")]


class ScheduleChange(Body):
    """Changes to a schedule; fields that are left out stay."""

    paused: bool | None = Field(default=None, description="true pauses, false resumes", examples=[True])
    pause_note: Note | None = Field(default=None, description="why it is paused", examples=["maintenance"])
    overlap: Overlap | None = Field(
        default=None, description="what a firing does while the last tournament still runs", examples=["buffer_one"]
    )
    catchup_window_seconds: Annotated[int, Field(ge=10, le=31_536_000)] | None = Field(
        default=None, description="how late a firing may still happen", examples=[600]
    )


class Schedule(Answer):
    """A schedule."""

    id: str = Field(description="its id")
    project: str = Field(description="its project", examples=["connect-four"])
    trial_id: str | None = Field(description="the trial it is about; null: the whole project")
    name: str = Field(description="its name", examples=["nightly"])
    cron: str | None = Field(description="when it fires, as a cron line", examples=["0 3 * * *"])
    every_seconds: int | None = Field(description="its interval in seconds, instead of a cron line", examples=[None])
    time_zone: str = Field(description="time zone of the cron line", examples=["UTC"])
    overlap: Overlap = Field(description="what a firing does while the last tournament still runs", examples=["skip"])
    catchup_window_seconds: int = Field(description="how late a missed firing may still happen", examples=[3600])
    paused: bool = Field(description="whether it is paused", examples=[False])
    pause_note: str | None = Field(description="why it is paused")
    last_error: str | None = Field(description="why its last tournament failed; null after a success")
    revision: int = Field(description="number of changes; the ETag", examples=[1])
    taken: bool = Field(description="whether Temporal has this revision", examples=[True])
    created_at: Utc = Field(description="when it was created")
    tournament: dict[str, Any] = Field(description="the tournament that each firing creates", examples=[SPEC_EXAMPLE])
    fired: int | None = Field(default=None, description="firings so far; null where Temporal was not asked")
    skipped_overlap: int | None = Field(default=None, description="firings skipped because a tournament still ran")
    missed_catchup: int | None = Field(default=None, description="firings missed because they came too late")
    next: list[Utc] | None = Field(default=None, description="its next firings")
