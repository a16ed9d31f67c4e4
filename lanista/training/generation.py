"""What a run reports about a generation: its progress, and its outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lanista.training.evaluation import EvaluationResult
from league.types import CheckpointRef

WIN_RATE, MEAN_RETURN = "win_rate_against_random", "return_mean"
"""What a learning curve shows: in games of several teams, and of one."""


@dataclass(frozen=True, kw_only=True)
class GenerationProgress:
    """A generation under way."""

    player: str
    generation: int
    steps: int
    target: int
    steps_per_second: float
    metrics: dict[str, float]
    """Means over the updates so far."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """One generation of one player."""

    player: str
    number: int
    """0 for the untrained player, which is measured before it learns."""
    steps: int
    player_steps: int
    """The player's steps after it."""
    trial_steps: int
    """The steps of all players together after it."""
    seconds: float
    """Since the run began."""
    checkpoint: CheckpointRef
    metrics: dict[str, float]
    win_rates: dict[str, float]
    """Against each opponent of its training games, by name."""
    evaluation: EvaluationResult | None = None
    """Games against random play; None where none were asked for."""
    snapshot: str | None = None
    """The player that was frozen from it."""
    reset: bool = False
    copied: str | None = None
    """The better member of its population whose weights it took over."""
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    """Options of the algorithm that were the player's own in this generation."""
    reasons: tuple[str, ...] = ()
    """Why there was a snapshot, a reset or a copy, or none."""

    @property
    def score(self) -> float | None:
        """The point of the learning curve: the win rate against random play; the mean return in games of one team."""
        if self.evaluation is not None:
            found = self.evaluation.win_rate
            return self.evaluation.mean_return if found is None else found
        return self.metrics.get(MEAN_RETURN)

    def as_row(self) -> dict[str, Any]:
        """One row of a table: the numbers, then the metrics."""
        evaluated = self.evaluation
        return {
            "player": self.player,
            "generation": self.number,
            "steps": self.player_steps,
            "trial_steps": self.trial_steps,
            "seconds": round(self.seconds, 3),
            "score": self.score,
            WIN_RATE: None if evaluated is None else evaluated.win_rate,
            "snapshot": self.snapshot,
            "reset": self.reset,
            "copied": self.copied,
            "sha256": self.checkpoint.sha256,
            **{f"hyperparameter/{name}": value for name, value in self.hyperparameters.items()},
            **self.metrics,
        }
