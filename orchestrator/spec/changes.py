"""Changes to a trial, such as those of a fork: part of a trial file, laid over another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merge_changes(trial: Any, changes: Any) -> Any:
    """The trial as JSON with the changes laid over it; a list replaces the list before."""
    if isinstance(trial, Mapping) and isinstance(changes, Mapping):
        # another id or preset has other options: the old ones do not apply
        fresh = any(key in changes and changes[key] != trial.get(key) for key in ("id", "preset"))
        kept = {key: value for key, value in trial.items() if not (fresh and key == "matchmaking")}
        return {**kept, **{key: merge_changes(kept.get(key), value) for key, value in changes.items()}}
    return changes
