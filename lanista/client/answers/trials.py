"""Events of the stream."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field, model_validator

from api.schemas.base import Answer


class GenerationProgress(Answer):
    """How far a generation under way is. Before its crew is ready, nothing is known of steps."""

    player_id: str
    player: str
    generation: int
    attempt: int = 1
    steps: int | None = None
    target: int | None = None
    steps_per_second: float | None = None
    metrics: dict[str, float] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _with_its_heartbeat(cls, data: Any) -> Any:
        """The server nests what the crew's heartbeat says."""
        if isinstance(data, dict) and isinstance(data.get("progress"), dict):
            return {**data, **data["progress"]}
        return data


class Event(Answer):
    """Something that happened; `progress` events have no id and are not kept."""

    type: str
    id: int | None = None
    trial_id: str | None = None
    created_at: datetime | None = None
    payload: dict[str, Any] = Field(default_factory=dict)
    generations: list[GenerationProgress] = Field(default_factory=list)
    """Of a `progress` event: the generations under way."""
