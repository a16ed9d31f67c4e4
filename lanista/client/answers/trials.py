"""Trials, their players and what follows them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field, model_validator

from lanista.client.answers.shape import Answer
from league.types import Role

PlayerStatus = Literal["active", "retired"]


class TrialStatus(StrEnum):
    """Where a trial is in its life."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        return self in (TrialStatus.STOPPED, TrialStatus.COMPLETED, TrialStatus.FAILED)


class TrialSummary(Answer):
    """A trial, without its file."""

    id: str
    project: str
    name: str
    game: str
    seed: int
    status: TrialStatus
    status_reason: str | None
    revision: int
    steps: int
    budget_steps: int | None
    last_commit: int
    payoff_revision: int
    forked_from_trial_id: str | None
    forked_at_commit: int | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    archived_at: datetime | None

    @property
    def label(self) -> str:
        """How people write it: `project/name`."""
        return f"{self.project}/{self.name}"

    @property
    def is_over(self) -> bool:
        return self.status.is_final


class Trial(TrialSummary):
    """A trial."""

    spec: dict[str, Any]


class SpecProblem(Answer):
    """One thing that is wrong with a trial file."""

    path: str
    message: str
    value: str | None
    line: int | None
    column: int | None


class CheckedFile(Answer):
    """What became of the check of a trial file."""

    valid: bool
    problems: list[SpecProblem]
    spec: dict[str, Any] | None
    not_checked: str | None
    """Why names of one's own code were not tried."""


class Player(Answer):
    """A member of a league."""

    id: str
    trial_id: str
    name: str
    role: Role
    status: PlayerStatus
    bot: str | None
    parent_id: str | None
    forked_from_player_id: str | None
    hyperparameters: dict[str, Any]
    revision: int
    created_commit: int
    generation: int
    steps: int
    steps_at_snapshot: int
    version_id: str | None
    version_number: int | None
    created_at: datetime
    retired_at: datetime | None


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
