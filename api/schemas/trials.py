"""Trials, and the check of a trial file."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from api.schemas.base import LARGEST, Answer, Body, Name, Utc
from api.schemas.enums import TrialStatus

SPEC_EXAMPLE = {"game": {"id": "connect_four"}, "league": {"preset": "alphastar"}, "budget": {"steps": 100_000_000}}


class TrialTarget(Answer):
    """A strength that ends a trial."""

    opponent: str = Field(description="the player or bot to beat", examples=["mcts-100"])
    win_rate: float = Field(description="win rate of a main against it in rating games", examples=[0.9])


class TrialSummary(Answer):
    """A trial, without its file."""

    id: str = Field(description="its id")
    project: str = Field(description="its project", examples=["connect-four"])
    name: str = Field(description="its name", examples=["first-league"])
    former_names: list[str] = Field(
        default_factory=list, description="names before renames; they still lead to it", examples=[["attempt-3"]]
    )
    tags: list[str] = Field(default_factory=list, description="its tags, in order", examples=[["baseline", "gpu"]])
    game: str = Field(description="the game, with its options", examples=["connect_four"])
    seed: int = Field(description="seed of everything random in the trial", examples=[7])
    status: TrialStatus = Field(description="its status", examples=["running"])
    status_reason: str | None = Field(
        description="why it has this status", examples=["the budget of 100000000 steps is used up"]
    )
    priority: float = Field(
        default=1.0, description="weight among the trials of its project where crews are scarce", examples=[1.0]
    )
    quota: int | None = Field(
        default=None, description="most generations of it under way at once; null: no limit", examples=[4]
    )
    revision: int = Field(description="number of changes by users; the ETag", examples=[3])
    steps: int = Field(description="environment steps trained on, over all players", examples=[12_000_000])
    budget_steps: int | None = Field(description="its budget of steps; null without one", examples=[100_000_000])
    budget_seconds: float | None = Field(
        default=None, description="its limit of time spent running (`wall_clock`); null without one", examples=[3000.0]
    )
    budget_until: TrialTarget | None = Field(default=None, description="the strength that ends it; null without one")
    seconds_run: float = Field(
        default=0.0,
        description="time spent running until `running_since`; pauses do not count, down time of the installation does",
        examples=[1260.5],
    )
    running_since: Utc | None = Field(
        default=None, description="since when its time passes without a break; null while it does not"
    )
    last_commit: int = Field(description="number of its newest commit", examples=[17])
    payoff_revision: int = Field(description="the commit that last changed the payoff", examples=[17])
    forked_from_trial_id: str | None = Field(description="the trial it was forked from")
    forked_at_commit: int | None = Field(description="the commit of that trial it was forked at")
    created_at: Utc = Field(description="when it was created")
    started_at: Utc | None = Field(description="when it first ran")
    finished_at: Utc | None = Field(description="when it ended")
    archived_at: Utc | None = Field(description="when it was archived")

    @property
    def label(self) -> str:
        """The trial as users write it: `project/name`."""
        return f"{self.project}/{self.name}"

    @property
    def is_over(self) -> bool:
        return self.status.is_final

    def seconds_used(self, now: datetime) -> float:
        """Time spent running until now, without pauses."""
        since = self.running_since
        return self.seconds_run + (0.0 if since is None else max(0.0, (now - since).total_seconds()))

    @property
    def time_limit_at(self) -> datetime | None:
        """When its time is used up, if it is not paused; None without a limit, or while its time does not pass."""
        if self.budget_seconds is None or self.running_since is None:
            return None
        return self.running_since + timedelta(seconds=max(0.0, self.budget_seconds - self.seconds_run))


class Trial(TrialSummary):
    """A trial."""

    notes: str = Field(default="", description="what people wrote about it", examples=["entropy 0.02 was too low"])
    spec: dict[str, Any] = Field(description="its trial file, with defaults", examples=[SPEC_EXAMPLE])


class Fork(Body):
    """A trial to fork from another."""

    name: Name = Field(description="name of the new trial", examples=["second-league"])
    at_commit: int | None = Field(
        default=None,
        strict=True,
        ge=0,
        le=LARGEST,
        description="the commit to start from; null: the newest",
        examples=[17],
    )
    changes: dict[str, Any] = Field(
        default_factory=dict,
        description="options of the trial file to change; game, model and players stay",
        examples=[{"algorithm": {"learning_rate": 1e-4}}],
    )


Tag = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9][a-z0-9._:/=-]{0,39}$",
        description="1 to 40 lower-case letters, digits and . _ : / = -",
        examples=["baseline"],
    ),
]


NewPriority = Annotated[float, Field(gt=0, le=1000)]
NewQuota = Annotated[int, Field(strict=True, ge=0, le=100_000)]


class TrialChange(Body):
    """What to change of a trial; what is null stays as it is."""

    name: Name | None = Field(default=None, description="its new name", examples=["best-league"])
    tags: list[Tag] | None = Field(default=None, max_length=20, description="its tags, in place of all it has")
    notes: str | None = Field(
        default=None,
        max_length=20_000,
        pattern=r"^[^\x00]*$",
        description="its notes, in place of what is there",
        examples=["entropy 0.02 was too low"],
    )
    priority: NewPriority | None = Field(
        default=None, description="its weight among the trials of its project where crews are scarce", examples=[3.0]
    )
    quota: NewQuota | None = Field(
        default=None, description="most generations of it under way at once; 0: no limit", examples=[4]
    )


class Stop(Body):
    """How to stop a trial."""

    mode: Literal["drain", "now"] = Field(
        default="drain",
        description="drain: finish and record the generations in progress; now: discard them, within seconds",
    )
    reason: str = Field(
        default="stopped by an operator",
        min_length=1,
        max_length=500,
        pattern=r"^[^\x00]*$",
        description="why; kept in the trial and in the audit log",
    )


class FileToCheck(Body):
    """A trial file to check: as text, or as the spec of POST /trials."""

    text: str | None = Field(default=None, description="the file (YAML); problems have line and column")
    spec: dict[str, Any] | None = Field(default=None, description="or a spec (JSON)", examples=[SPEC_EXAMPLE])


class SpecProblem(Answer):
    """One problem of a trial file."""

    path: str = Field(description="the field", examples=["league.players[2].role"])
    message: str = Field(description="what is wrong and what is allowed")
    value: str | None = Field(description="the wrong value")
    line: int | None = Field(description="line of the text, from 1")
    column: int | None = Field(description="column of the text, from 1")


class CheckedFile(Answer):
    """The result of checking a trial file."""

    valid: bool = Field(description="whether a trial can be created from it")
    problems: list[SpecProblem] = Field(description="all problems, in the order of the file")
    spec: dict[str, Any] | None = Field(description="the spec, with defaults; null unless valid")
    not_checked: str | None = Field(
        description="why names of your own code were not imported; null where they were, or there are none",
        examples=["not checked: no train worker"],
    )
