"""Latencies by the million in little memory: a histogram whose buckets grow by four per cent."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, exp, log

_GROWTH = log(1.04)
_FLOOR = 1e-6
"""The first bucket's latency, in seconds."""
_BUCKETS = 500
"""The last bucket's latency is more than five minutes."""


@dataclass(slots=True)
class Latencies:
    """How long requests took, in seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * _BUCKETS)
    total: int = 0
    longest: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one request."""
        bucket = 0 if seconds <= _FLOOR else min(_BUCKETS - 1, int(log(seconds / _FLOOR) / _GROWTH) + 1)
        self.counts[bucket] += 1
        self.total += 1
        if seconds > self.longest:
            self.longest = seconds

    def percentile(self, share: float) -> float:
        """The latency that this share of requests did not exceed, to four per cent; 0 where there were none."""
        wanted = ceil(self.total * share)
        seen = 0
        for bucket, count in enumerate(self.counts):
            seen += count
            if count and seen >= wanted:
                return min(self.longest, _FLOOR * exp(bucket * _GROWTH))
        return 0.0

    def since(self, earlier: Latencies) -> Latencies:
        """Those that were added after a copy was taken; the longest is of all."""
        counts = [now - before for now, before in zip(self.counts, earlier.counts, strict=True)]
        return Latencies(counts, self.total - earlier.total, self.longest)

    def copy(self) -> Latencies:
        """As it is now."""
        return Latencies(self.counts.copy(), self.total, self.longest)
