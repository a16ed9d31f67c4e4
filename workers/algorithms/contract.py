"""The interface of an algorithm: `update` trains the learner on a sample batch and returns metrics.

See docs/decisions/algorithms.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from orchestrator.catalog import Component, Kind, load
from workers.algorithms.learner import Learner
from workers.rollout.batch import Experience


class BadAlgorithm(ValueError):
    """The algorithm's name or options cannot be used; the message says what is allowed."""


@dataclass(frozen=True, kw_only=True)
class AlgorithmOptions:
    """Options that all algorithms share; each algorithm adds its own."""

    learning_rate: float = 1e-3
    gamma: float = 1.0
    """Discount per own decision of a seat, not per step of the game."""
    entropy: float = 0.05
    """Weight of the entropy bonus; too little and self-play collapses onto a few openings."""
    value_weight: float = 0.5
    gradient_clip: float = 0.5
    """Largest norm of a gradient; 0 for no limit."""
    rollout_steps: int = 16
    """Steps at every table between two updates (rollout length)."""
    minibatch: int = 4096
    """Rows of one gradient step, summed over all processes."""

    def __post_init__(self) -> None:
        self._at_least("learning_rate", 0.0)
        self._at_least("entropy", 0.0)
        self._at_least("value_weight", 0.0)
        self._at_least("gradient_clip", 0.0)
        self._whole("rollout_steps", 1)
        self._whole("minibatch", 1)
        self._share("gamma")

    def _at_least(self, name: str, least: float) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:
            raise BadAlgorithm(f"{name} must be a number of at least {least}, not {value!r}")

    def _whole(self, name: str, least: int) -> None:
        value = getattr(self, name)
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not whole or value < least:
            raise BadAlgorithm(f"{name} must be a whole number of at least {least}, not {value!r}")
        object.__setattr__(self, name, int(value))

    def _share(self, name: str) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
            raise BadAlgorithm(f"{name} must lie between 0 and 1, not {value!r}")


class Algorithm(ABC):
    """Trains a learner on batches of samples."""

    options_class: ClassVar[type[AlgorithmOptions]]
    count_metrics: ClassVar[frozenset[str]] = frozenset({"rows"})
    """Metrics that a generation sums over its updates and processes; all others are averaged, weighted by rows."""

    def __init__(self, learner: Learner, options: AlgorithmOptions, expected_rows: int) -> None:
        """`expected_rows` is the batch size over all processes; it gives all of them the same number of minibatches."""
        self.learner = learner
        self.options = options
        self.minibatches = max(1, round(expected_rows / options.minibatch))

    @abstractmethod
    def update(self, batch: Experience, rng: np.random.Generator) -> dict[str, float]:
        """Train on the batch; returns the update's metrics, each a mean over the update or one of `count_metrics`."""


Chosen = TypeVar("Chosen", bound=AlgorithmOptions)


def algorithm_class(component: Component) -> type[Algorithm]:
    """The algorithm class of this id."""
    found = load(Kind.ALGORITHM, component.id)
    if not (isinstance(found, type) and issubclass(found, Algorithm)):
        raise BadAlgorithm(f"algorithm {component.id!r} is not a subclass of workers.algorithms.contract.Algorithm")
    return found


def parse_options(component: Component) -> AlgorithmOptions:
    """The component's options, checked."""
    return make_options(component.id, algorithm_class(component).options_class, component.options)


def make_options(name: str, kind: type[Chosen], given: Mapping[str, Any]) -> Chosen:
    """Options of this kind from a mapping; raises BadAlgorithm for unknown names."""
    allowed = {field.name for field in fields(kind)}
    unknown = sorted(set(given) - allowed)
    if unknown:
        raise BadAlgorithm(
            f"algorithm {name!r} has no option {', '.join(unknown)}; allowed: {', '.join(sorted(allowed))}"
        )
    return kind(**given)


def return_spread(returns: NDArray[np.float32]) -> float:
    """The standard deviation of the returns, at least 1: the small returns of early training are not scaled up."""
    return max(float(returns.std()), 1.0) if len(returns) else 1.0


def explained_variance(predicted: NDArray[np.float32], actual: NDArray[np.float32]) -> float:
    """1 for a perfect value head, 0 for one that knows no more than the mean."""
    spread = float(actual.var())
    return 1.0 - float((actual - predicted).var()) / spread if spread > 0.0 else 0.0
