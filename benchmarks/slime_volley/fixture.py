"""The recorded episodes that the unit test of the game plays: what the package shows, in a small file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.slime_volley.equality import package_weights, play_package, record
from workers.games.builtin.slime_volley import MAX_STEPS

FILE = Path(__file__).parents[2] / "tests" / "unit" / "games" / "slime_volley.npz"
_SEEDS = np.arange(4_000_012, 4_000_036, dtype=np.uint64)
_FULLY = 1000
"""Steps up to which an episode is kept with every observation; of a longer one every 25th is."""


def write_fixture(file: Path = FILE) -> int:
    """Record the shortest episode, a middling one and one of 3,000 steps; returns the bytes of the file."""
    weights = package_weights()
    trial = record(_SEEDS, weights)
    lengths = np.diff(np.flatnonzero(trial.done), prepend=-1)
    order = np.argsort(lengths, kind="stable")
    chosen = [int(order[0]), int(order[len(order) // 4]), int(order[-1])]
    if lengths[chosen[-1]] != MAX_STEPS:
        raise RuntimeError(f"no episode of {MAX_STEPS} steps among {len(_SEEDS)}")
    first = np.cumsum(lengths) - lengths
    rows = [np.arange(first[each], first[each] + lengths[each]) for each in chosen]
    shown = play_package(trial)
    kept, at = [], 0
    for each, row in zip(chosen, rows, strict=True):
        stride = 1 if len(row) <= _FULLY else 25
        kept.append([(at + step, first[each] + each + step + 1) for step in range(0, len(row), stride)])
        at += len(row)
    places = np.concatenate([np.array(part) for part in kept])
    steps = np.concatenate(rows)
    np.savez_compressed(
        file,
        seeds=_SEEDS[chosen],
        actions=trial.actions[steps],
        rewards=shown["rewards"][steps].astype(np.int8),
        done=shown["done"][steps],
        kept=places[:, 0],
        observations=shown["observations"][places[:, 1]].astype(np.float32),
    )
    return file.stat().st_size
