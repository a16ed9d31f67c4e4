"""What a trial does now: its generations under way, and what keeps it from going on."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from api.schemas.base import Answer


class GenerationProgress(Answer):
    """Progress of a running generation. Its steps are unknown until its crew is ready."""

    player_id: str
    player: str = Field(description="the player's name")
    generation: int
    attempt: int = 1
    waiting: str | None = Field(None, description="what it waits for", examples=["a crew of 2 CPUs behind main"])
    steps: int | None = None
    target: int | None = None
    steps_per_second: float | None = None
    metrics: dict[str, float] = Field(default_factory=dict)
    progress: dict[str, Any] = Field(
        default_factory=dict, description="what the last heartbeat says: steps, target, steps_per_second, metrics"
    )

    @model_validator(mode="before")
    @classmethod
    def _with_its_heartbeat(cls, data: Any) -> Any:
        """The figures of the heartbeat, as fields."""
        if isinstance(data, dict) and isinstance(data.get("progress"), dict):
            return {**data, **data["progress"]}
        return data


class TrainingSpeed(Answer):
    """How fast a trial trains, over all its players: the one number that every view of it shows."""

    steps_per_second: float = Field(
        description="steps recorded or under way in the last minutes, divided by that time", examples=[14_300.0]
    )
    measured_seconds: float = Field(
        description="the time it is measured over: five minutes, or since the trial started or resumed",
        examples=[300.0],
    )
    steps_under_way: int = Field(description="steps of generations that are not recorded yet", examples=[120_000])
    seconds_left: float | None = Field(
        description="until the budget of steps is used up at this speed; null without such a budget or without speed",
        examples=[7_200.0],
    )


class TrialProgress(Answer):
    """What a trial does now, and what keeps it from going on."""

    generations: list[GenerationProgress] = Field(description="the generations under way; empty where none is")
    troubles: list[str] = Field(
        description="failed attempts that no success of the same player or gate has followed, one sentence each",
        examples=[["Generation 3 of main: attempt 2 failed, the next in 10 s, because the crew was lost"]],
    )
    speed: TrainingSpeed | None = Field(None, description="how fast it trains; null where it does not run")
    behind: list[str] = Field(
        default_factory=list,
        description="where a generation waits: the other trials that have crews now, those with most crews first",
        examples=[["connect-four/second-league"]],
    )
