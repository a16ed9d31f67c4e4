"""TensorBoard files of a trial's players, one per generation.

`<root>/<trial>/<player>/events.out.tfevents.<generation>.lanista`: TensorBoard shows `trial/player` as a run and reads
its files in the order of their names. A generation's file is written whole, once: a retry finds it and leaves it.

See docs/decisions/measuring.md.
"""

from __future__ import annotations

import io
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from orchestrator.storage.artifacts import open_filesystem, write_whole

_GROUPS: Mapping[str, str] = {
    "return_mean": "games",
    "game_length": "games",
    "games": "games",
    "steps_per_second": "speed",
    "sample_age": "speed",
    "sample_age_max": "speed",
    "dropped_batches": "speed",
}
"""The group a metric is shown in; all others are shown under `learning`."""
_AGENT = "agent/"
"""How names begin that agents of games that call in have chosen: a group of its own."""


class BadTensorBoardName(ValueError):
    """A trial's or player's name cannot be a folder's."""


@dataclass(frozen=True, kw_only=True)
class GenerationPoints:
    """One committed generation of one player, as TensorBoard shows it."""

    trial: str
    player: str
    generation: int
    steps: int
    """The player's environment steps after the generation: the horizontal axis."""
    committed_at: float
    """Seconds since the epoch, from the commit and not from a clock, so that a retry writes the same file."""
    metrics: Mapping[str, float]
    win_rates: Mapping[str, float] = field(default_factory=dict)
    """The win rate against each opponent, by name."""


def write_generation(root: str, points: GenerationPoints) -> bool:
    """Write the generation's file below `root` (a folder or URL); False when it is already there."""
    for name in (points.trial, points.player):
        if not name or name in (".", "..") or "/" in name:
            raise BadTensorBoardName(f"{name!r} cannot be a folder's name")
    fs, base = open_filesystem(root)
    name = f"events.out.tfevents.{points.generation:010d}.lanista"
    path = posixpath.join(base, points.trial, points.player, name)
    if fs.exists(path):
        return False
    write_whole(fs, path, encode(points))
    return True


def encode(points: GenerationPoints) -> bytes:
    """The event file's bytes, the same for the same points."""
    file = io.BytesIO()
    writer = RecordWriter(file)
    values = [Summary.Value(tag=tag, simple_value=value) for tag, value in sorted(scalars(points).items())]
    header = Event(wall_time=points.committed_at, file_version="brain.Event:2")
    event = Event(wall_time=points.committed_at, step=points.steps, summary=Summary(value=values))
    for message in (header, event):
        writer.write(message.SerializeToString())
    return file.getvalue()


def scalars(points: GenerationPoints) -> dict[str, float]:
    """Every value by its tag: `games/...`, `speed/...`, `learning/...`, `agent/...` and `win_rate/<opponent>`."""
    shown = {
        name if name.startswith(_AGENT) else f"{_GROUPS.get(name, 'learning')}/{name}": value
        for name, value in points.metrics.items()
    }
    shown["games/generation"] = float(points.generation)
    return shown | {f"win_rate/{name}": rate for name, rate in points.win_rates.items()}
