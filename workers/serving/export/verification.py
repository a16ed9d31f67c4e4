"""Compares what an exported model computes with what torch computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workers.models.contract import ILLEGAL
from workers.serving.export.errors import TooDifferent
from workers.serving.export.graph import Inputs, PolicyGraph

ROWS = (1, 7, 64)
"""Sizes of batches that are compared: an export that fixed the number of rows is found here."""
TOLERANCE = 1e-4
QUANTISED_TOLERANCE = 0.1


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How far two models are apart."""

    largest: float
    """The largest difference of any number, relative to its size where that is above 1."""
    equal_actions: float | None
    """The share of rows with the same best action; None where the graph has no actions."""
    rows: int


def compare(graph: PolicyGraph, run: Callable[[Inputs], Inputs]) -> Difference:
    """Compare torch with another way to run the graph, on drawn inputs."""
    largest, equal, total = 0.0, 0, 0
    for seed, rows in enumerate(ROWS):
        inputs = graph.example(rows, seed)
        wanted, found = graph.run(inputs), run(inputs)
        total += rows
        for name in graph.output_names:
            if name == "action":
                same = np.isclose(found[name], wanted[name], rtol=0, atol=TOLERANCE)
                equal += int(same.reshape(rows, -1).all(axis=1).sum())
            else:
                largest = max(largest, _apart(wanted[name], found[name]))
    return Difference(largest=largest, equal_actions=equal / total if graph.acting else None, rows=total)


def check(difference: Difference, tolerance: float, what: str) -> None:
    """Raise TooDifferent above the tolerance."""
    if not difference.largest <= tolerance:
        raise TooDifferent(
            f"{what} differs from torch by up to {difference.largest:.3g}, the tolerance is {tolerance:g}: not written"
        )


def _apart(wanted: np.ndarray, found: np.ndarray) -> float:
    if wanted.shape != found.shape:
        return float("inf")
    scale = np.maximum(1.0, np.abs(wanted))
    # forbidden actions have a constant that is far below any logit on both sides
    apart = np.where(wanted <= ILLEGAL / 2, np.where(found <= ILLEGAL / 2, 0.0, np.inf), np.abs(wanted - found) / scale)
    return float(apart.max(initial=0.0))
