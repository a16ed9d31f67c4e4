"""Metrics of a generation: means over all its updates and processes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

import torch
from torch import Tensor

from workers.user_errors import NotFinite

MinibatchMeans = tuple[Tensor, int]
"""The means of some metrics over a minibatch, still a tensor, and its rows."""
Measured = list[MinibatchMeans]
"""Of every minibatch of an update."""


def minibatch_means(names: Sequence[str], measured: Measured) -> dict[str, float]:
    """The means over all minibatches, weighted by their rows; none where nothing was measured.

    Raises NotFinite if one is NaN or infinite: they are computed from the model's outputs.
    """
    if not measured:
        return {}
    means = torch.stack([values for values, _ in measured]).double().cpu()  # read at once, not number by number
    if not math.isfinite(float(means.sum())) and not bool(torch.isfinite(means).all()):
        step = int(torch.isfinite(means).all(1).logical_not().nonzero()[0])
        found = ", ".join(f"{name} {value:g}" for name, value in zip(names, means[step].tolist(), strict=True))
        raise NotFinite(
            f"in gradient step {step + 1} of the {len(measured)} of an update the model's outputs, or the weights, were"
            f" not finite: {found}"
        )
    rows = torch.tensor([rows for _, rows in measured], dtype=torch.float64)
    return dict(zip(names, (rows @ means / rows.sum()).tolist(), strict=True))


@dataclass
class MetricMeans:
    """A running mean of every metric, weighted by the rows of each update; counts are summed instead."""

    _sums: dict[str, float] = field(default_factory=dict)
    _weights: dict[str, float] = field(default_factory=dict)
    _counts: dict[str, float] = field(default_factory=dict)

    def add(self, metrics: Mapping[str, float], rows: int, counts: Set[str] = frozenset()) -> None:
        """Add the metrics of one update on this many rows; those named in `counts` are summed."""
        for name, value in metrics.items():
            if name in counts:
                self._counts[name] = self._counts.get(name, 0.0) + value
            elif rows:
                self._sums[name] = self._sums.get(name, 0.0) + value * rows
                self._weights[name] = self._weights.get(name, 0.0) + rows

    def merge(self, other: MetricMeans) -> None:
        """Add the updates of another process, or of a later call."""
        for mine, theirs in (
            (self._sums, other._sums),
            (self._weights, other._weights),
            (self._counts, other._counts),
        ):
            for name, value in theirs.items():
                mine[name] = mine.get(name, 0.0) + value

    def values(self) -> dict[str, float]:
        """Every metric by its name."""
        return {name: total / self._weights[name] for name, total in self._sums.items()} | self._counts
