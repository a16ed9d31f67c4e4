"""The messages between the driver of a crew and its actors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from workers.algorithms.metrics import MetricMeans


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What rollout actors act with: all networks, the exploration rate, and the gradient steps behind them."""

    arrays: dict[str, NDArray[Any]]
    explore: float
    updates: int
    raw_images: bool = False
    """See `Checkpoint.raw_images`."""


@dataclass(frozen=True, kw_only=True)
class CallReport:
    """What one actor did in one call."""

    steps: int = 0
    """Environment steps sampled."""
    metrics: MetricMeans = field(default_factory=MetricMeans)
    oldest: float = 0.0
    """The most updates by which a decision is older than the weights that learnt from it."""


@dataclass(frozen=True, kw_only=True)
class StoredBuffer:
    """Where a process's buffer was stored, if it is kept, and whether the generation was exact."""

    where: dict[str, Any] | None
    exact: bool | None
