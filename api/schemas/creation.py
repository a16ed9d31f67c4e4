"""Request bodies that hold a whole trial or tournament file.

The client sends plain JSON and does not import them: building the tree of the trial file takes long.
"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field, model_validator

from api.schemas.base import Body, Name
from api.schemas.enums import Overlap
from api.schemas.probes import SPEC_EXAMPLE as PROBE_EXAMPLE
from api.schemas.sweeps import SPEC_EXAMPLE as SWEEP_EXAMPLE
from api.schemas.tournaments import SPEC_EXAMPLE as TOURNAMENT_EXAMPLE
from api.schemas.trials import SPEC_EXAMPLE as TRIAL_EXAMPLE
from orchestrator.spec import TrialSpec
from orchestrator.spec.evaluation import check_cron
from orchestrator.spec.probe import NewProbeSpec
from orchestrator.spec.sweeps.sweep import SweepSpec
from orchestrator.spec.tournament import TournamentSpec

Cron = Annotated[str, Field(max_length=100, description="minute hour day month weekday"), AfterValidator(check_cron)]
Seconds = Annotated[int, Field(ge=1, le=31_536_000)]
Zone = Annotated[str, Field(max_length=64, pattern=r"^[A-Za-z0-9_+/-]+$")]


SweepName = Annotated[
    str,
    Field(pattern=r"^[a-z0-9][a-z0-9-]{0,58}$", description="1 to 59 lower-case letters, digits and hyphens"),
]
"""The name of a sweep: the names of its trials have four characters more."""


class NewTrial(Body):
    """A trial to create."""

    project: Name = Field(default="default", examples=["connect-four"])
    name: Name = Field(examples=["first-league"])
    spec: TrialSpec = Field(
        description="the trial file without `project` and `trial`; everything but `game` has a default",
        examples=[TRIAL_EXAMPLE],
    )


class NewTournament(Body):
    """A tournament to create."""

    project: Name = Field(default="default", examples=["connect-four"])
    spec: TournamentSpec = Field(description="the tournament file without `project`", examples=[TOURNAMENT_EXAMPLE])


class NewSweep(Body):
    """A sweep to create."""

    project: Name = Field(default="default", examples=["cartpole"])
    name: SweepName = Field(examples=["learning-rates"])
    spec: SweepSpec = Field(
        description="the sweep file without `project` and `sweep`, with the trial itself as `trial`",
        examples=[SWEEP_EXAMPLE],
    )


class NewProbe(Body):
    """A probe to create: of `version_id`, or of the mixture of `trial_id`."""

    version_id: UUID | None = Field(default=None, description="the version; null: the mixture of a trial")
    trial_id: UUID | None = Field(
        default=None, description="the trial, the Nash mixture of whose snapshots is probed; null: a version"
    )
    spec: NewProbeSpec = Field(default=NewProbeSpec(), description="its budget", examples=[PROBE_EXAMPLE])

    @model_validator(mode="after")
    def _one_target(self) -> NewProbe:
        if (self.version_id is None) == (self.trial_id is None):
            raise ValueError("give either version_id or trial_id")
        return self


class NewSchedule(Body):
    """A schedule to create: `cron` or `every_seconds`, not both."""

    project: Name = Field(default="default", examples=["connect-four"])
    name: Name = Field(examples=["nightly"])
    cron: Cron | None = Field(default=None, examples=["0 3 * * *"])
    every_seconds: Seconds | None = Field(
        default=None, description="interval in seconds, instead of a cron line", examples=[3600]
    )
    time_zone: Zone = Field(default="UTC", description="time zone of the cron line", examples=["Europe/Berlin"])
    overlap: Overlap = Field(
        default=Overlap.SKIP,
        description="what a firing does while the last tournament still runs",
        examples=["skip"],
    )
    catchup_window_seconds: Annotated[int, Field(ge=10, le=31_536_000)] = Field(
        default=3600, description="how late a firing that an outage prevented may still happen", examples=[3600]
    )
    tournament: TournamentSpec = Field(
        description="the tournament to create at each firing", examples=[TOURNAMENT_EXAMPLE]
    )
