"""Options that every algorithm has, and those of algorithms with a buffer of past experience or random actions."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from orchestrator.spec.section import Section
from orchestrator.spec.values import Count, Flag, NotNegative, Positive, PositiveShare, Share


class AlgorithmOptions(Section):
    """Options of every algorithm; a user's own algorithm adds its options in a subclass."""

    learning_rate: PositiveShare = Field(default=1e-3, description="step size of Adam")
    gamma: Share = Field(default=1.0, description="discount per own decision of a seat, not per step of the game")
    gradient_clip: NotNegative = Field(default=0.5, description="largest norm of a gradient; 0 for no limit")
    rollout_steps: Positive = Field(default=16, description="steps at every table between two updates")
    minibatch: Positive = Field(default=4096, description="rows of one gradient step, over all processes")


class ReplayOptions(AlgorithmOptions):
    """Options of algorithms that learn from a buffer of past experience, for use in a user's own."""

    minibatch: Positive = Field(default=256, description="rows of one gradient step, over all processes")
    replay_ratio: NotNegative = Field(
        default=1.0,
        description="decisions learnt from for each new one; sets the gradient steps of an update",
    )
    capacity: Positive = Field(default=100_000, description="decisions that a process's buffer holds")
    warm_up: Count = Field(default=1_000, description="decisions in the buffer before the first gradient step")
    n_step: Positive = Field(default=1, description="rewards summed before the value of a later position is used")
    kept: Flag = Field(
        default=False, description="whether the buffer is part of the checkpoint, so that a generation resumes exactly"
    )
    compressed: Flag = Field(default=False, description="whether observations are compressed in memory")

    @property
    def buffer_arguments(self) -> dict[str, Any]:
        """What a replay buffer is made with."""
        return {
            "capacity": self.capacity,
            "gamma": self.gamma,
            "n_step": self.n_step,
            "warm_up": self.warm_up,
            "kept": self.kept,
            "compressed": self.compressed,
        }


class ExploreOptions(Section):
    """Options of algorithms that explore by random actions, to inherit beside their other options."""

    explore_start: Share = Field(default=1.0, description="chance of a random action at the start")
    explore_least: Share = Field(default=0.02, description="chance of a random action at the end of the schedule")
    explore_steps: Positive = Field(default=5_000, description="environment steps of the schedule")
    explore_schedule: Literal["linear", "exponential", "cosine"] = Field(
        default="linear", description="how the chance falls: linear, exponential or cosine"
    )

    @model_validator(mode="after")
    def _can_fall_exponentially(self) -> Self:
        if self.explore_schedule == "exponential" and not (self.explore_start and self.explore_least):
            raise ValueError("an exponential explore_schedule needs explore_start and explore_least above 0")
        return self
