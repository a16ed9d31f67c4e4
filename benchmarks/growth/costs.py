"""What one generation costs each part of the system, as measured at two sizes of league."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PARTS = ("temporal", "postgres", "store-worker", "train-worker", "ray", "actors", "api")
MOST_OPPONENTS = 64
"""A plan names no more: what depends on the opponents grows no further."""
_BY_LEAGUE = ("postgres", "store-worker", "api")
"""Parts whose cost grows with all players of a league, not only with a plan's opponents."""
TRAINING = "train_generation"
"""The activity that is no call of the store."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A league of so many learning players, measured for a while."""

    players: int
    seconds: float
    generations: int
    cpu_seconds: Mapping[str, float]
    """CPU time of each part."""
    commits: int
    """Of Postgres, by all of Lanista."""
    load: float
    """The machine's load average at the end."""

    @property
    def cores(self) -> float:
        """How many cores the system kept busy."""
        return sum(self.cpu_seconds.values()) / self.seconds

    @property
    def rate(self) -> float:
        return self.generations / self.seconds

    def each(self, part: str) -> float:
        """CPU seconds of one generation."""
        return self.cpu_seconds.get(part, 0.0) / self.generations

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Sample:
        return cls(**{name: row[name] for name in cls.__dataclass_fields__})


@dataclass(frozen=True, kw_only=True)
class Costs:
    """The costs of one generation of a league of `players`."""

    players: int
    cpu_seconds: Mapping[str, float]
    commits: float
    actions: float
    """Of Temporal: activities, signals, timers and workflow tasks."""
    store: Mapping[str, float] = field(default_factory=dict)
    """The activities of the store in a generation, with the share of the store's work that each has."""


def store_shares(activities: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """How the store's work divides among its activities: by how often each ran, and for how long (the median)."""
    worked = {name: each["count"] * each["median_run_s"] for name, each in activities.items() if name != TRAINING}
    return {name: seconds / sum(worked.values()) for name, seconds in worked.items()}


def costs_at(
    players: int, small: Sample, large: Sample, actions: float, store: Mapping[str, float] | None = None
) -> Costs:
    """On the straight line through both samples; it ends at 64 players for parts that see a plan's opponents only.

    No cost falls below that of the smaller league.
    """

    def line(low: float, high: float, cap: bool) -> float:
        size, first, second = (min(n, MOST_OPPONENTS) if cap else n for n in (players, small.players, large.players))
        slope = max(0.0, (high - low) / (second - first)) if second != first else 0.0
        return max(min(low, high), high + slope * (size - second))

    return Costs(
        players=players,
        cpu_seconds={
            part: line(small.each(part), large.each(part), cap=part not in _BY_LEAGUE)
            for part in PARTS
            if part in large.cpu_seconds
        },
        actions=actions,
        store=store or {},
        commits=line(small.commits / small.generations, large.commits / large.generations, cap=True),
    )
