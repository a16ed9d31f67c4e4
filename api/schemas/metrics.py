"""Metrics of generations, as series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from pydantic import Field

from api.schemas.base import Answer


class Point(TypedDict):
    """One value of a series, as a row of a frame."""

    player: str
    name: str
    generation: int
    steps: int
    value: float | None


class MetricNames(Answer):
    """The names of all metrics that some player of a trial has."""

    names: list[str] = Field(description="the names, sorted", examples=[["entropy", "policy_loss"]])


class Series(Answer):
    """One metric of one player, as columns of equal length."""

    player_id: str = Field(description="the player")
    player: str = Field(description="its name", examples=["main"])
    name: str = Field(description="the metric", examples=["loss"])
    generations: list[int] = Field(description="the generations, in order", examples=[[1, 2]])
    steps: list[int] = Field(description="the player's steps after each", examples=[[2_000_000, 4_000_000]])
    values: list[float | None] = Field(description="the values; null where not a finite number", examples=[[0.9, 0.7]])
    times: list[int] = Field(
        default_factory=list,
        description="when each generation was recorded, in seconds since 1970; empty unless asked for by `times`",
        examples=[[1_900_000_000, 1_900_000_060]],
    )

    def rows(self) -> Iterator[Point]:
        """One row for each value."""
        for generation, steps, value in zip(self.generations, self.steps, self.values, strict=True):
            yield Point(player=self.player, name=self.name, generation=generation, steps=steps, value=value)
