"""The failure history of a trial: every attempt that failed, and what it cost."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from api.schemas.base import Answer, Utc
from api.schemas.events import (
    KINDS,
    CheckpointDamaged,
    ScheduleFailed,
    TournamentWithdrawn,
    TrialStalled,
    WorkflowRestarted,
)
from api.schemas.events.retries import FailedAttempt

FAILURE_KINDS: Final = (
    *(kind for kind, payload in KINDS.items() if issubclass(payload, FailedAttempt)),
    CheckpointDamaged.KIND,
    TournamentWithdrawn.KIND,
    ScheduleFailed.KIND,
    WorkflowRestarted.KIND,
    TrialStalled.KIND,
)
"""Kinds of events that tell of a failure; besides them, a trial's change to `failed`."""


class RecordedFailure(Answer):
    """Something that went wrong, whether or not it was made good since."""

    id: int = Field(description="the number of its event", examples=[4711])
    at: Utc = Field(description="when it was recorded")
    type: str = Field(description="the kind of its event", examples=["generation_retried"])
    text: str = Field(description="what happened, as one sentence; a traceback may follow")
    player_id: str | None = Field(description="the player it concerns; null where it concerns none")
    player: str | None = Field(description="the player's name", examples=["main"])
    generation: int | None = Field(description="the generation", examples=[7])
    gate_id: str | None = Field(description="the gate it concerns")
    tournament_id: str | None = Field(description="the tournament it concerns")
    failure: str | None = Field(description="the kind of failure", examples=["worker_lost"])
    problem: str | None = Field(
        description="the error in words; a traceback may follow", examples=["the worker sent no heartbeat in time"]
    )
    attempts: int | None = Field(description="attempts up to and with this one", examples=[2])
    lost_steps: int = Field(description="steps of the attempt, which are made again", examples=[40_000])
    recovered_at: Utc | None = Field(
        default=None,
        description="when a later attempt succeeded: the generation was recorded, or the gate went on; null: not yet, "
        "or there was nothing to try again",
    )
