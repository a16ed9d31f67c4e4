"""Measuring rates side by side: short slices in turn, so that noise of the machine affects all peers alike."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Environment steps that were sampled and trained on, and the time that took."""

    steps: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.steps / self.seconds


class Peer(Protocol):
    """A training program to measure. Its actors run from its construction until it is closed."""

    def train(self, seconds: float) -> Slice:
        """Sample and learn for about this many seconds."""

    def close(self) -> None:
        """End all its processes."""


def say(message: str) -> None:
    """Progress goes to stderr: stdout carries the result alone."""
    print(message, file=sys.stderr, flush=True)


def interleave(peers: Mapping[str, Peer], *, rounds: int, seconds: float) -> dict[str, float]:
    """The median rate of each peer over slices taken in turn; a first, short slice of each is not counted."""
    for peer in peers.values():
        peer.train(min(seconds, 2.0))
    rates: dict[str, list[float]] = {name: [] for name in peers}
    for number in range(rounds):
        for name, peer in peers.items():
            rates[name].append(peer.train(seconds).rate)
            say(f"  round {number + 1}/{rounds}: {name} {rates[name][-1]:,.0f} steps/s")
    return {name: statistics.median(values) for name, values in rates.items()}
