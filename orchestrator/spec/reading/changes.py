"""Changes to a trial, such as those of a fork: part of a trial file, laid over another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.spec.components import Choice
from orchestrator.spec.section import Section


def merge_changes(trial: Any, changes: Any) -> Any:
    """The trial as JSON with the changes laid over it; a list replaces the list before.

    Another id has other options, and another preset another matchmaking: none of the old ones is kept.
    """
    if isinstance(trial, Mapping) and isinstance(changes, Mapping):
        kept = {} if _differs("id", trial, changes) else dict(trial)
        if _differs("preset", trial, changes):
            kept.pop("matchmaking", None)
        return {**kept, **{key: merge_changes(kept.get(key), value) for key, value in changes.items()}}
    return changes


def given_json(section: Section) -> dict[str, Any]:
    """What the trial file gives, as JSON, without defaults: those of other changes may differ. Ids are always there."""
    given: dict[str, Any] = section.model_dump(mode="json", exclude_unset=True)
    for name in given:
        value = getattr(section, name)
        if isinstance(value, Choice):
            given[name] = {"id": value.id, **given[name]}
    return given


def _differs(key: str, trial: Mapping[str, Any], changes: Mapping[str, Any]) -> bool:
    return key in changes and changes[key] != trial.get(key)
