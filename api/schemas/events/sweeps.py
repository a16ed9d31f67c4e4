"""Events about sweeps and their trials at rungs."""

from __future__ import annotations

from pydantic import Field

from api.schemas.events.base import EventPayload, Id, Level, OptionalId
from api.schemas.events.wording import because, counted, joined, spelled

DECIDED = {"go_on": "goes on", "stop": "is stopped early", "complete": "is complete"}


class SweepPayload(EventPayload):
    """About one sweep."""

    sweep_id: Id = ""
    project_id: OptionalId = None
    name: str = Field("", description="the sweep's name", examples=["learning-rates"])

    @property
    def sweep(self) -> str:
        """The sweep in words."""
        return f"Sweep {self.name}" if self.name else "A sweep"


class SweepCreated(SweepPayload, kind="sweep.created"):
    """A sweep was created."""

    method: str | None = Field(None, examples=["asha"])
    trials: int | None = Field(None, description="how many trials it will have", examples=[20])

    @property
    def text(self) -> str:
        trials = "" if self.trials is None else counted(self.trials, "trial")
        return f"{self.sweep} was created{because(joined(trials, spelled(self.method or '')))}"


class SweepStatusChanged(SweepPayload, kind="sweep.status"):
    """The sweep's status changed, or an order asked for the status that it already has."""

    from_: str = Field("", alias="from", description="the status before", examples=["running"])
    to: str = Field("", description="the status now", examples=["completed"])
    reason: str | None = Field(None, examples=["trial learning-rates-007 is the best: 480.5"])
    best_trial_id: OptionalId = None

    @property
    def text(self) -> str:
        if not self.to:
            return f"{self.sweep}: the status changed{because(self.reason)}"
        if self.from_ == self.to:
            return f"{self.sweep} is {self.to} already{because(self.reason)}"
        return f"{self.sweep} is now {self.to}{because(self.reason)}"

    @property
    def level(self) -> Level:
        if self.to == "failed":
            return "bad"
        return "good" if self.to == "completed" else "plain"


class SweepJudged(SweepPayload, kind="sweep.judged"):
    """It was decided whether a trial of the sweep goes on beyond a rung."""

    trial_name: str = Field("", description="the trial's name", examples=["learning-rates-007"])
    number: int = Field(0, description="the trial's number in the sweep", examples=[7])
    rung: int = Field(0, examples=[1])
    steps: int = Field(0, description="the trial's steps at the rung", examples=[10_000])
    value: float | None = Field(None, description="the trial's value at the rung", examples=[181.25])
    verdict: str = Field("", examples=["stop"])
    reason: str | None = Field(None, examples=["181.2 is number 5 of 9 at rung 1; the best 1/3 so far, 3, go on"])

    @property
    def text(self) -> str:
        trial = f"trial {self.trial_name}" if self.trial_name else "a trial"
        return f"{self.sweep}: {trial} {DECIDED.get(self.verdict, 'was judged')}{because(self.reason)}"
