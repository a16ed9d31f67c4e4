"""Stores a buffer's state as artifacts: arrays in shards of some megabytes, each found by its hash.

Rows lie in a ring, so a shard whose rows have not changed has the same bytes as before and takes no more space.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactStore
from workers.buffers.contract import State

KIND = "buffer"
SHARD_BYTES = 16 << 20


def store(artifacts: ArtifactStore, state: State) -> dict[str, Any]:
    """Write the state; returns where it is, as JSON values."""
    arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
    return {
        "scalars": {name: value for name, value in state.items() if name not in arrays},
        "arrays": {name: [asdict(ref) for ref in _put(artifacts, array)] for name, array in arrays.items()},
    }


def fetch(artifacts: ArtifactStore, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Read a state back."""
    return dict(stored["scalars"]) | {
        name: np.concatenate([_get(artifacts, CheckpointRef(**ref)) for ref in refs])
        for name, refs in stored["arrays"].items()
    }


def _put(artifacts: ArtifactStore, array: NDArray[Any]) -> Iterator[CheckpointRef]:
    rows = max(1, SHARD_BYTES // max(1, array[:1].nbytes))
    for start in range(0, max(1, len(array)), rows):
        part = np.ascontiguousarray(array[start : start + rows])
        yield artifacts.put(save_arrays({"rows": part}), kind=KIND)


def _get(artifacts: ArtifactStore, ref: CheckpointRef) -> NDArray[Any]:
    rows: NDArray[Any] = load_arrays(artifacts.get(ref))["rows"]
    return rows
