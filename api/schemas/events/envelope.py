"""An event as the stream sends it: what happened, when, in which trial, and as one sentence."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.schemas.base import Answer, Utc
from api.schemas.events.base import Level
from api.schemas.progress import GenerationProgress, TrainingSpeed


class EventHead(Answer):
    """The fields that events of every kind have."""

    type: str = Field(description="the kind of event")
    id: int | None = None
    trial_id: str | None = Field(None, description="null for an event that concerns no single trial")
    created_at: Utc | None = None
    text: str = Field("", description="the event as one sentence")
    level: Level = Field("plain", description="how much it matters: ordinary, good news, or trouble")
    transient: bool = Field(False, description="true for kinds that only report progress")


class Event(EventHead):
    """Something that happened; `progress` events have no id and are not stored."""

    payload: dict[str, Any] = Field(default_factory=dict)
    generations: list[GenerationProgress] = Field(
        default_factory=list, description="of a `progress` event: the generations under way"
    )
    speed: TrainingSpeed | None = Field(None, description="of a `progress` event: how fast the trial trains")
