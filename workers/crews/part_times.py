"""How long each part of a generation took in one process of its crew."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Part:
    """One part of a generation, however often it was done: `update` from the first update to the last."""

    name: str
    above: str
    """The part within which it was done; empty: none."""
    started: float
    """Seconds since 1970, by the clock of the process's own host."""
    ended: float
    busy: float = 0.0
    """Seconds of it that were spent in it: between two updates a process samples, or waits."""
    calls: int = 0


@dataclass(frozen=True, kw_only=True)
class ProcessParts:
    """The parts of a generation in one process."""

    process: str
    """What kind of actor, and its rank."""
    host: str
    pid: int
    parts: list[Part]

    @property
    def busy(self) -> float:
        """Seconds in any part."""
        return sum(part.busy for part in self.parts if not part.above)


@dataclass
class PartTimes:
    """Adds up the parts. It costs about a microsecond for each time a part is done, so it always runs."""

    _parts: dict[tuple[str, str], Part] = field(default_factory=dict)
    _within: str = ""

    def reset(self) -> None:
        """Begin a generation."""
        self._parts, self._within = {}, ""

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Around the part each time it is done."""
        above, self._within = self._within, name
        began = time.perf_counter()
        found = self._parts.get((above, name))
        if found is None:
            now = time.time()
            found = self._parts[above, name] = Part(name=name, above=above, started=now, ended=now)
        try:
            yield
        finally:
            found.busy += time.perf_counter() - began
            found.calls += 1
            found.ended = time.time()
            self._within = above

    def parts(self) -> list[Part]:
        """Every part that was done since the last reset, in the order of their beginnings."""
        return sorted(self._parts.values(), key=lambda part: part.started)
