"""`generation`: the size of one generation, and its processes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from orchestrator.spec.section import Section
from orchestrator.spec.values import WHOLE, Count, Positive, Processes, Share


class OpeningsSpec(Section):
    """Random first moves in training, which keep self-play from collapsing onto a few lines."""

    share: Share = Field(default=0.5, description="share of self-play games that start with random moves")
    plies: Count | None = Field(
        default=None, description="most random moves of a game; null: a quarter of its longest possible length"
    )


class GenerationSpec(Section):
    """One unit of learning of one player; 10 to 60 seconds are a good length."""

    steps: Positive = Field(default=2_000_000, description="environment steps to sample and learn from")
    rollout_actors: Processes = Field(default=1, description="processes that play")
    tables: Annotated[int, Field(strict=True, ge=1, le=1_000_000), WHOLE] = Field(
        default=1024,
        description="games that each process plays at once; 64 or more fit 64 opponents, multiples of 64 evenly",
    )
    trainers: Processes = Field(default=1, description="training processes; only of the topology split")
    topology: Literal["auto", "fused", "split"] = Field(
        default="auto",
        description="fused: each process plays and learns; split: some play, some learn; auto: split if trainers > 1",
    )
    threads: Processes = Field(
        default=1, description="threads of each process; results are reproducible only for the same number"
    )
    openings: OpeningsSpec = Field(default=OpeningsSpec(), description="random first moves in training")

    @field_validator("trainers")
    @classmethod
    def _share_actors_evenly(cls, trainers: int, info: ValidationInfo) -> int:
        actors = info.data.get("rollout_actors", trainers)
        if actors % trainers:
            raise ValueError(f"{actors} rollout_actors cannot be shared by {trainers} trainers evenly")
        return trainers
