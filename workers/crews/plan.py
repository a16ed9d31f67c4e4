"""The crew plan: what a crew of actors is built for."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.catalog import Component

DEFAULT_BUFFER_BYTES = 1 << 30


@dataclass(frozen=True, kw_only=True)
class CrewPlan:
    """Game, model and size of a crew. A warm crew serves every task with the same plan.

    The algorithm and its options are the task's: players that differ in them share warm crews.
    """

    game: Component
    model: Component
    tables: int
    rollout_actors: int
    trainers: int
    threads: int
    split: bool
    buffer_bytes: int = DEFAULT_BUFFER_BYTES
    """Memory for players' buffers in each training process; what exceeds it is spilled to files."""

    @property
    def processes(self) -> int:
        return self.rollout_actors + (self.trainers if self.split else 0)

    @property
    def cpus(self) -> int:
        """The CPUs that Ray must have free for the crew."""
        return self.processes * self.threads

    @property
    def learners(self) -> int:
        """The processes that train the model and all-reduce their gradients."""
        return self.trainers if self.split else self.rollout_actors
