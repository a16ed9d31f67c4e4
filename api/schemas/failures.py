"""The failure history of a trial: every attempt that failed, and what it cost."""

from __future__ import annotations

from enum import StrEnum
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


class FailureOutcome(StrEnum):
    """What became of a failure."""

    OPEN = "open"
    """It is tried again, or nobody has done anything about it yet."""
    RECOVERED = "recovered"
    LOST = "lost"
    """It is not tried again."""


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
    round: int | None = Field(default=None, description="of a pairing: its round", examples=[1])
    pair: int | None = Field(default=None, description="of a pairing: its number in the round", examples=[3])
    version_id: str | None = Field(default=None, description="the version whose checkpoint is damaged")
    verdict: str | None = Field(
        default=None,
        description="of a damaged checkpoint: retired (a frozen player) or avoided (a learner's version)",
        examples=["retired"],
    )
    failure: str | None = Field(description="the kind of failure", examples=["worker_lost"])
    problem: str | None = Field(
        description="the error in words; a traceback may follow", examples=["the worker sent no heartbeat in time"]
    )
    attempts: int | None = Field(description="attempts up to and with this one", examples=[2])
    lost_steps: int = Field(description="steps of the attempt, made again if it is tried again", examples=[40_000])
    outcome: FailureOutcome = Field(
        default=FailureOutcome.OPEN,
        description="recovered: a later attempt succeeded; lost: nothing is tried again; open: neither so far",
    )
    outcome_reason: str | None = Field(default=None, description="why it is lost for good", examples=["player retired"])
    recovered_at: Utc | None = Field(
        default=None,
        description="when a later attempt succeeded: the generation was recorded, the gate went on, or there was a "
        "newer version; null: not yet, or it is lost for good",
    )
