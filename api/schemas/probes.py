"""Probes: what fresh responders reach against a version or a mixture."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.schemas.base import Answer, Body, Utc
from api.schemas.enums import ProbeStatus

SPEC_EXAMPLE = {"responders": 3, "steps": 200_000, "games": 200, "seed": 0}


class ProbePart(Answer):
    """A version that the responders train against."""

    version_id: str = Field(description="the version")
    name: str = Field(description="its name", examples=["main v12"])
    weight: float = Field(description="its share of the games", examples=[1.0])


class ProbeResponder(Answer):
    """A responder and what it reached in fresh games."""

    name: str = Field(description="the trial that it trained in", examples=["probe-63ebc5e3a9d1-1"])
    version_id: str = Field(description="its last version")
    steps: int = Field(description="its steps", examples=[200_000])
    games: int = Field(description="its fresh games", examples=[200])
    win_rate: float = Field(description="draws count half", examples=[0.64])
    low: float = Field(description="the lower end of its interval, 95 % for all responders together", examples=[0.56])
    high: float = Field(description="the upper end", examples=[0.71])


class ProbeTrialRef(Answer):
    """The trial of a responder."""

    trial_id: str = Field(description="the trial")
    name: str = Field(description="its name", examples=["probe-63ebc5e3a9d1-1"])
    status: str = Field(description="its status", examples=["running"])
    steps: int = Field(description="its steps so far", examples=[65_536])


class Probe(Answer):
    """A probe: a lower bound on how exploitable a version or a mixture is."""

    id: str = Field(description="its id")
    trial_id: str = Field(description="the trial of the target")
    version_id: str | None = Field(description="the version; null for a mixture")
    target: str = Field(description="the target in words", examples=["main v12"])
    player: str | None = Field(description="the version's player; null for a mixture", examples=["main"])
    version_steps: int | None = Field(description="steps of the version; null for a mixture", examples=[1_200_000])
    parts: list[ProbePart] = Field(description="the versions that responders train against")
    spec: dict[str, Any] = Field(description="its budget", examples=[SPEC_EXAMPLE])
    status: ProbeStatus = Field(description="its status", examples=["completed"])
    status_reason: str | None = Field(description="why it has this status")
    trials: list[ProbeTrialRef] = Field(description="the trials of its responders")
    tournament_id: str | None = Field(description="the fresh games; null while responders train")
    responders: list[ProbeResponder] = Field(description="what each responder reached; empty until it is completed")
    win_rate: float | None = Field(description="of the best responder; null until it is completed", examples=[0.64])
    low: float | None = Field(
        description="the lower end of its interval: the version is at least so exploitable", examples=[0.56]
    )
    high: float | None = Field(description="the upper end", examples=[0.71])
    created_at: Utc = Field(description="when it was created")
    finished_at: Utc | None = Field(description="when it ended")

    @property
    def is_over(self) -> bool:
        return self.status.is_final


class StopProbe(Body):
    """How to stop a probe."""

    reason: str = Field(
        default="stopped by an operator",
        min_length=1,
        max_length=500,
        pattern=r"^[^\x00]*$",
        description="why; kept in the probe, its trials and the audit log",
        examples=["the first responder says enough"],
    )
