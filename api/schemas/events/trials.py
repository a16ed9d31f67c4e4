"""Events about a trial as a whole, its aliases and its ratings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from api.schemas.events.base import ID, EventPayload, Id, Level, OptionalId
from api.schemas.events.wording import because, of_trial, spelled

ORIGIN = {"from_trial_id": ID, "from": "first-league", "at_commit": 42}


class ForkOrigin(BaseModel):
    """Where a fork was taken from."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True, serialize_by_alias=True)

    from_trial_id: Id = ""
    from_: str = Field("", alias="from", description="the name of the trial that was forked")
    at_commit: int | None = None
    to_trial_id: Id = ""

    @property
    def when(self) -> str:
        """At which commit, at the end of a sentence."""
        return "" if self.at_commit is None else f" at commit {self.at_commit}"


class TrialCreated(EventPayload, kind="trial.created"):
    """A trial was created, or forked from another."""

    project: str = Field("", examples=["connect-four"])
    name: str = Field("", examples=["second-league"])
    game: str = Field("", examples=["connect_four"])
    forked: ForkOrigin | None = Field(None, examples=[ORIGIN])

    @property
    def text(self) -> str:
        named = f"Trial {self.name}" if self.name else "The trial"
        if self.forked is None:
            return f"{named} was created"
        return f"{named} was forked from {self.forked.from_ or 'another trial'}{self.forked.when}"


class TrialStatusChanged(EventPayload, kind="trial.status"):
    """The trial's status changed, or an order asked for the status that it already has."""

    from_: str = Field("", alias="from", description="the status before", examples=["running"])
    to: str = Field("", description="the status now", examples=["pausing"])
    reason: str | None = Field(None, examples=["on request"])

    @property
    def text(self) -> str:
        if not self.to:
            return f"The trial's status changed{because(self.reason)}"
        if self.from_ == self.to:
            return f"The trial is {self.to} already{because(self.reason)}"
        before = f"went from {self.from_} to" if self.from_ else "is now"
        return f"The trial {before} {self.to}{because(self.reason)}"

    @property
    def level(self) -> Level:
        if self.to == "failed":
            return "bad"
        return "good" if self.to == "completed" else "plain"


class TrialStalled(EventPayload, kind="trial.stalled"):
    """Nothing was recorded of a running trial for LANISTA_ALERT_STALL_MINUTES."""

    minutes: float = Field(0.0, description="minutes without an event", examples=[30.0])

    @property
    def text(self) -> str:
        return f"Nothing of the trial was recorded for {self.minutes:g} minutes, though it is running"

    @property
    def level(self) -> Level:
        return "bad"


class WorkflowRestarted(EventPayload, kind="workflow.restarted"):
    """A workflow ended without a word and was started again from what is recorded."""

    what: str = Field("", description="trial, player, gate or tournament", examples=["player"])
    name: str = Field("", description="its name; of a gate, the alias", examples=["main"])
    how: str = Field("", description="how it ended", examples=["terminated"])

    @property
    def text(self) -> str:
        ended = f" ({self.how})" if self.how else ""
        whose = f" of {self.what} {self.name}" if self.what and self.name else ""
        return f"The workflow{whose} was lost{ended}; it goes on from its last record"

    @property
    def level(self) -> Level:
        return "bad"


class TrialForked(EventPayload, kind="trial.forked"):
    """A fork was taken from the trial."""

    name: str = Field("", description="the fork's name", examples=["second-league"])
    forked: ForkOrigin = Field(ForkOrigin(), examples=[ORIGIN])

    @property
    def text(self) -> str:
        return f"The trial was forked as {self.name or 'another trial'}{self.forked.when}"


class TrialArchived(EventPayload, kind="trial.archived"):
    """The trial was archived."""

    @property
    def text(self) -> str:
        return "The trial was archived"


class TrialChanged(EventPayload, kind="trial.changed"):
    """The trial's name, tags, notes, priority or quota were changed."""

    name: str = Field("", description="its name now", examples=["best-league"])
    from_: str | None = Field(None, alias="from", description="its name before a rename", examples=["first-league"])
    tags: list[str] | None = Field(None, description="its tags, where they were changed", examples=[["baseline"]])
    notes: bool = Field(False, description="whether its notes were changed", examples=[True])
    priority: float | None = Field(None, description="its priority, where it was changed", examples=[3.0])
    quota: int | None = Field(None, description="its quota, where it was changed; 0: none", examples=[4])

    @property
    def text(self) -> str:
        if self.from_:
            return f"Trial {self.from_} was renamed to {self.name}"
        if self.tags is not None:
            return f"The trial's tags are now {', '.join(self.tags) or 'none'}"
        if self.priority is not None:
            return f"The trial's priority is now {self.priority:g}"
        if self.quota is not None:
            return f"The trial's quota is now {f'{self.quota} generations at once' if self.quota else 'none'}"
        return "The trial's notes were changed"


class ProjectChanged(EventPayload, kind="project.changed"):
    """The priority or quota of the trial's project was changed."""

    project: str = Field("", examples=["connect-four"])
    priority: float | None = Field(None, description="its priority, where it was changed", examples=[3.0])
    quota: int | None = Field(None, description="its quota, where it was changed; 0: none", examples=[16])

    @property
    def text(self) -> str:
        parts = [] if self.priority is None else [f"priority {self.priority:g}"]
        parts += [] if self.quota is None else [f"quota {self.quota or 'none'}"]
        name = f"Project {self.project}" if self.project else "The project"
        return f"{name} has now {' and '.join(parts) or 'another share of the crews'}"


class CheckpointsPruned(EventPayload, kind="checkpoints.pruned"):
    """Retention gave up checkpoints of old training versions that nothing needs; their files are removed as garbage."""

    versions: int = Field(0, description="number of versions", examples=[120])
    files: int = Field(0, description="number of their files", examples=[120])
    bytes: int = Field(0, description="size of the files", examples=[6_144_960])
    newest: int = Field(0, description="versions of each player that are kept, the newest", examples=[20])
    every: int = Field(0, description="versions whose number this divides are kept too; 0: none", examples=[10])

    @property
    def text(self) -> str:
        rule = f"the newest {self.newest} of each player" + (f" and every {self.every}th" if self.every else "")
        return f"{self.versions:,} checkpoints ({self.bytes / 1e6:,.1f} MB) were pruned; {rule} are kept"


class MatchesPruned(EventPayload, kind="matches.pruned"):
    """Retention gave up the moves of old matches; their results stay."""

    matches: int = Field(0, description="number of matches", examples=[5000])
    bytes: int = Field(0, description="size that their moves had in the database", examples=[412_000])
    before: str = Field("", description="those that were recorded before", examples=["2026-08-20T03:00:00+00:00"])

    @property
    def text(self) -> str:
        before = f" before {self.before[:10]}" if self.before else ""
        return f"the moves of {self.matches:,} matches{before} were pruned; their results are kept"


class AliasMoved(EventPayload, kind="alias.moved"):
    """An alias was moved to another version."""

    project_id: Id = ""
    game: str = Field("", examples=["connect_four"])
    alias: str = Field("", examples=["champion"])
    revision: int = Field(0, examples=[3])
    move: str = Field("", description="promoted, set or rolled_back", examples=["promoted"])
    from_version_id: OptionalId = None
    from_version: str | None = Field(None, description="the version before, by name", examples=["main-1"])
    from_trial_id: OptionalId = Field(
        None, description="its trial, where it is another one than that of the version now"
    )
    from_trial: str | None = Field(None, description="that trial's name", examples=["second-league"])
    to_version_id: Id = ""
    to_version: str | None = Field(None, description="the version now, by name", examples=["main-2"])
    reason: str = Field("", examples=["the gate passed: LLR 2.96 reached 2.94"])

    @property
    def text(self) -> str:
        alias = self.alias or "An alias"
        if self.to_version is None:
            return f"{alias} moved to another version{because(self.reason)}"
        if self.from_version is None:
            return f"{alias} is now {self.to_version}{because(self.reason)}"
        before = of_trial(self.from_version, self.from_trial)
        return f"{alias} moved from {before} to {self.to_version}{because(self.reason)}"

    @property
    def level(self) -> Level:
        return "good"


class RatingsFitted(EventPayload, kind="ratings.fitted"):
    """Ratings were fitted to the rating games so far."""

    fit_id: Id = ""
    method: str = Field("", examples=["bradley_terry"])
    tournament_id: OptionalId = None
    tournament: str | None = Field(
        None, description="the name of the tournament after which they were fitted", examples=["nightly"]
    )

    @property
    def text(self) -> str:
        method = f" ({spelled(self.method)})" if self.method else ""
        occasion = f" after tournament {self.tournament}" if self.tournament else ""
        return f"Ratings were fitted again{occasion}{method}"
