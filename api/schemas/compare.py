"""Several trials side by side: what differs in their files, their curves, and their champions against each other."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.schemas.base import Answer
from api.schemas.enums import TrialStatus
from api.schemas.metrics import Series


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
