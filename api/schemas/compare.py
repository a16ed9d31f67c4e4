"""Several trials side by side: what differs in their files, their curves, and their champions against each other."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from api.schemas.base import Answer
from api.schemas.enums import TrialStatus
from api.schemas.metrics import Series


class RatedPoint(Answer):
    """The rating of one version, with when it was made."""

    version_id: str = Field(description="the version")
    label: str = Field(description="its player and number", examples=["main v12"])
    steps: int = Field(description="its player's steps until then", examples=[12_000_000])
    seconds: float = Field(description="time from the trial's start until then", examples=[3600.0])
    value: float = Field(description="Elo above the fit's anchor", examples=[212.5])
    low: float | None = Field(description="lower end of the 95 % interval against the anchor")
    high: float | None = Field(description="upper end of that interval")


class ComparedTrial(Answer):
    """One of the trials that are compared."""

    id: str = Field(description="its id")
    label: str = Field(description="project and name", examples=["cartpole/sweep-003"])
    game: str = Field(description="the game, with its options", examples=["connect_four"])
    status: TrialStatus = Field(description="its status", examples=["completed"])
    steps: int = Field(description="steps trained on, over all players", examples=[46_080])
    champion: str | None = Field(
        description="the version that plays for it: the last that held an alias, or the newest of its first main",
        examples=["main v12"],
    )
    champion_version_id: str | None = Field(description="that version's id; null before the first one")
    champion_is: Literal["champion", "former", "newest"] | None = Field(
        default=None,
        description="what that version is: the holder of an alias now, its last holder that another version has "
        "followed, or the newest of a trial that never had one",
    )
    shared_champion: str | None = Field(
        default=None,
        description="the champion of its project and game now, which may be of another trial",
        examples=["main-23 v0"],
    )
    shared_champion_version_id: str | None = Field(default=None, description="that version's id")
    shared_champion_trial_id: str | None = Field(default=None, description="that version's trial")
    shared_champion_trial: str | None = Field(default=None, description="that trial's name", examples=["second-league"])
    forked_from_trial_id: str | None = Field(default=None, description="the trial it was forked from")
    rating_fit_id: str | None = Field(
        default=None, description="the fit of the ratings; those of different fits have different zeros"
    )
    rating_zero: str | None = Field(
        default=None, description="the version whose rating is 0 in that fit", examples=["random"]
    )
    ratings: list[RatedPoint] = Field(
        default_factory=list, description="Bradley-Terry ratings of its first main and that one's snapshots, by steps"
    )
    generations: list[int] = Field(default_factory=list, description="the generations of its first main, in order")
    seconds: list[float] = Field(
        default_factory=list, description="time from the trial's start until each of these was recorded"
    )
    curves: list[Series] = Field(description="the metrics of its first main")


class Difference(Answer):
    """A field of the trial file that is not the same in all trials."""

    path: str = Field(description="the field", examples=["algorithm.learning_rate"])
    values: list[Any] = Field(description="its value in each trial, in their order; null: it has none")


class ChampionResults(Answer):
    """Recorded rating games between two champions."""

    first: str = Field(description="the first trial's id")
    second: str = Field(description="the second trial's id")
    wins: int = Field(description="games won by the first", examples=[60])
    draws: int = Field(description="games drawn", examples=[25])
    losses: int = Field(description="games lost by the first", examples=[15])


class Comparison(Answer):
    """Trials side by side."""

    trials: list[ComparedTrial] = Field(description="the trials, in the order of the request")
    differences: list[Difference] = Field(description="fields of their files that differ")
    head_to_head: list[ChampionResults] = Field(description="pairs whose champions have met in rating games")
