"""Who waits for whom: trials that share crews."""

from __future__ import annotations

from pydantic import Field

from api.schemas.base import Answer, Utc


class WaitingGeneration(Answer):
    """A generation that cannot begin yet."""

    player_id: str = Field(description="the player")
    player: str = Field(description="its name", examples=["main"])
    generation: int = Field(description="the generation", examples=[12])
    since: Utc = Field(description="since when it waits")
    reason: str = Field(description="what it waits for", examples=["a crew, in the queue"])


class TrialInQueue(Answer):
    """A trial that trains: its share of the crews, what it has, and what it waits for."""

    trial_id: str = Field(description="the trial")
    project: str = Field(description="its project", examples=["connect-four"])
    trial: str = Field(description="its name", examples=["first-league"])
    priority: float = Field(description="its weight within its project", examples=[1.0])
    project_priority: float = Field(description="its project's weight", examples=[1.0])
    share: float = Field(description="the part of the crews that it is due, from 0 to 1", examples=[0.25])
    quota: int | None = Field(description="most generations of it under way at once; null: no limit", examples=[4])
    project_quota: int | None = Field(description="the same for all trials of its project", examples=[16])
    learners: int = Field(description="its learning players", examples=[8])
    training: int = Field(description="generations of it that have a crew now", examples=[2])
    waiting: list[WaitingGeneration] = Field(description="generations that wait, the longest wait first")
    behind: list[str] = Field(
        description="the other trials that have crews now, those with most crews first; empty where it waits for none",
        examples=[["connect-four/second-league"]],
    )


class CrewQueue(Answer):
    """Who waits for whom."""

    trials: list[TrialInQueue] = Field(description="trials that train, the longest wait first")
    not_asked: int = Field(description="learning players beyond the number that is asked at once", examples=[0])
