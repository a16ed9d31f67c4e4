"""Progress of running generations: the only kind of event that is not stored."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from api.schemas.base import Answer
from api.schemas.events.base import ID, EventPayload
from api.schemas.events.wording import counted


class GenerationProgress(Answer):
    """Progress of a running generation. Its steps are unknown until its crew is ready."""

    player_id: str
    player: str = Field(description="the player's name")
    generation: int
    attempt: int = 1
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


class Progress(EventPayload, kind="progress", transient=True):
    """Progress of the running generations, sent every second. It is not stored and has no id."""

    generations: list[GenerationProgress] = Field(
        default_factory=list,
        examples=[[{"player_id": ID, "player": "main", "generation": 3, "steps": 50_000, "target": 200_000}]],
    )

    @property
    def text(self) -> str:
        if not self.generations:
            return "No generation is under way"
        return "; ".join(_described(each) for each in self.generations)


def _described(generation: GenerationProgress) -> str:
    begun = "starting" if generation.steps is None else counted(generation.steps, "step")
    of = f" of {generation.target:,}" if generation.steps is not None and generation.target else ""
    return f"{generation.player}, generation {generation.generation}: {begun}{of}"
