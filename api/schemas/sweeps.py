"""Sweeps, their trials with values at rungs, and the importance of the fields that they vary."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from api.schemas.base import Answer, Body, Utc
from api.schemas.enums import SweepStatus, SweepVerdict, TrialStatus

SPEC_EXAMPLE = {
    "trial": {"game": {"id": "gymnasium", "env": "CartPole-v1"}},
    "space": {"algorithm.learning_rate": {"log_uniform": [1e-4, 1e-2]}},
    "method": "asha",
    "trials": 20,
    "budget": {"steps": 50_000},
}


class SweepSummary(Answer):
    """A sweep, without its file."""

    id: str = Field(description="its id")
    project: str = Field(description="its project", examples=["cartpole"])
    name: str = Field(description="its name", examples=["learning-rates"])
    method: str = Field(description="how the space is searched", examples=["asha"])
    status: SweepStatus = Field(description="its status", examples=["running"])
    status_reason: str | None = Field(description="why it has this status", examples=["paused by an operator"])
    trials: int = Field(description="how many trials it has in the end", examples=[20])
    trials_started: int = Field(description="trials created so far", examples=[12])
    trials_ended: int = Field(description="trials that have ended", examples=[9])
    stopped_early: int = Field(description="trials that others were better than", examples=[6])
    steps: int = Field(description="steps of all its trials so far", examples=[180_000])
    most_steps: int = Field(description="steps if no trial were stopped early", examples=[1_000_000])
    best_trial_id: str | None = Field(description="the best trial so far; null while none has a value")
    best_trial: str | None = Field(description="its name", examples=["learning-rates-007"])
    best_value: float | None = Field(description="its value at its highest rung", examples=[480.5])
    created_at: Utc = Field(description="when it was created")
    started_at: Utc | None = Field(description="when it started")
    finished_at: Utc | None = Field(description="when it ended")

    @property
    def label(self) -> str:
        """The sweep as users write it: `project/name`."""
        return f"{self.project}/{self.name}"

    @property
    def is_over(self) -> bool:
        return self.status.is_final


class Sweep(SweepSummary):
    """A sweep."""

    rungs: list[int] = Field(description="the steps at which trials are compared", examples=[[5_555, 16_666, 50_000]])
    spec: dict[str, Any] = Field(description="its file, with defaults", examples=[SPEC_EXAMPLE])


class RungResult(Answer):
    """A trial's value at a rung, and what was decided."""

    rung: int = Field(description="the rung, from 0", examples=[0])
    steps: int = Field(description="the trial's steps", examples=[5_555])
    value: float | None = Field(description="its value; more is better; null: none", examples=[181.25])
    verdict: SweepVerdict | None = Field(description="go_on, stop or complete; null while it waits for others")
    reason: str | None = Field(description="why, in one sentence")
    evidence: dict[str, Any] | None = Field(description="the values that it was decided from")


class SweepTrial(Answer):
    """A trial of a sweep."""

    number: int = Field(description="its number in the sweep, from 0", examples=[7])
    trial_id: str = Field(description="the trial")
    name: str = Field(description="the trial's name", examples=["learning-rates-007"])
    status: TrialStatus = Field(description="the trial's status", examples=["running"])
    status_reason: str | None = Field(description="why it has this status")
    steps: int = Field(description="the trial's steps so far", examples=[16_666])
    bracket: int = Field(description="the bracket of Hyperband that it is in; otherwise 0", examples=[0])
    point: dict[str, Any] = Field(
        description="the fields that the sweep varies, and their values", examples=[{"algorithm.learning_rate": 0.003}]
    )
    value: float | None = Field(description="its value at the highest rung that it reached", examples=[181.25])
    stopped_early: bool = Field(description="whether others were better")
    rungs: list[RungResult] = Field(description="its values and decisions, the lowest rung first")


class Importance(Answer):
    """How much of the differences between trials a field explains."""

    path: str = Field(description="the field", examples=["algorithm.learning_rate"])
    importance: float = Field(description="from 0 to 1", examples=[0.63])


class Importances(Answer):
    """The importance of each field that a sweep varies."""

    method: Literal["fanova", "explained_variance"] = Field(
        description="fanova: by optuna; explained_variance: each field by itself, where optuna is not installed"
    )
    trials: int = Field(description="how many trials with a value they are from", examples=[20])
    items: list[Importance] = Field(description="the fields, the most important first; empty with too few trials")


class StopSweep(Body):
    """How to stop a sweep."""

    reason: str = Field(
        default="stopped by an operator",
        min_length=1,
        max_length=500,
        pattern=r"^[^\x00]*$",
        description="why; kept in the sweep, its trials and the audit log",
    )


class SweepToCheck(Body):
    """A sweep to check: as text, or as the spec of POST /sweeps."""

    text: str | None = Field(
        default=None, description="the file (YAML) with the trial itself as `trial`; problems have line and column"
    )
    spec: dict[str, Any] | None = Field(default=None, description="or the sweep (JSON)", examples=[SPEC_EXAMPLE])
