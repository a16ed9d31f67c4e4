"""The rows of the results file: one finished run each."""

from __future__ import annotations

import hashlib
import json
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).parents[1] / "results" / "algorithms.json"


class Point(NamedTuple):
    """One evaluation of a run."""

    steps: int
    seconds: float
    value: float


class Key(NamedTuple):
    """What tells runs apart."""

    algorithm: str
    by: str
    env: str
    target: float
    seed: int
    settings: str


def settings_key(settings: Mapping[str, Any]) -> str:
    """Eight digits that stand for these settings."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One run of one algorithm, here or by another project."""

    algorithm: str
    by: str
    env: str
    target: float
    seed: int
    settings: str
    """What `settings_key` made of everything that was set: a row of other settings is another row."""
    seconds: float | None
    """Until the target, without evaluations; None: not reached."""
    steps: int | None
    best: float
    load: float
    """The machine's load average over the run's last minute: about 1 where nothing else ran."""
    curve: list[list[float]]

    @classmethod
    def of(cls, key: Key, curve: Sequence[Sequence[float]]) -> Row:
        """The row of a run that has these evaluations."""
        last = Point(int(curve[-1][0]), curve[-1][1], curve[-1][2])
        reached = last.value >= key.target
        return cls(
            **key._asdict(),
            seconds=round(last.seconds, 2) if reached else None,
            steps=last.steps if reached else None,
            best=max(point[2] for point in curve),
            load=round(os.getloadavg()[0], 2),
            curve=[[int(point[0]), round(point[1], 2), round(point[2], 2)] for point in curve],
        )

    @property
    def key(self) -> Key:
        return Key(self.algorithm, self.by, self.env, self.target, self.seed, self.settings)


class Results:
    """The rows of a file, written after each run, so that a later call continues where an earlier one ended."""

    def __init__(self, file: Path) -> None:
        self._file = file
        found = json.loads(file.read_text()) if file.exists() else []
        self._rows = {row.key: row for row in (Row(**each) for each in found)}

    def get(self, key: Key) -> Row | None:
        """The row of this run, if it has been made."""
        return self._rows.get(key)

    def add(self, row: Row) -> None:
        """Add or replace a run's row, and write the file."""
        self._rows[row.key] = row
        lines = ",\n".join(json.dumps(asdict(each)) for each in sorted(self._rows.values(), key=lambda each: each.key))
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(f"[\n{lines}\n]\n")


def summary(mine: Sequence[Row], theirs: Sequence[Row]) -> dict[str, Any]:
    """One algorithm's figures; `ratio` is the peer's median of seconds by ours, where both reached on every seed."""
    found: dict[str, Any] = {
        "env": mine[0].env,
        "target": mine[0].target,
        "seeds": [row.seed for row in mine],
        "lanista_s": [row.seconds for row in mine],
        "lanista_steps": [row.steps for row in mine],
        "lanista_best": [row.best for row in mine],
        "lanista_last": [row.curve[-1][2] for row in mine],
        "load": [row.load for row in mine],
    }
    if theirs:
        found |= {
            "peer": theirs[0].by,
            "peer_s": [row.seconds for row in theirs],
            "peer_steps": [row.steps for row in theirs],
            "peer_best": [row.best for row in theirs],
            "peer_last": [row.curve[-1][2] for row in theirs],
        }
        ours = [row.seconds for row in mine if row.seconds is not None]
        others = [row.seconds for row in theirs if row.seconds is not None]
        whole = len(ours) == len(mine) and len(others) == len(theirs)
        found["ratio"] = round(statistics.median(others) / statistics.median(ours), 2) if whole else None
    return found
