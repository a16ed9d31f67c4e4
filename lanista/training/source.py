"""Reads the trial of a run: from a file, or from a trial built in Python."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanista.checks.shadowing import shadowed
from lanista.client.code_packing import code_folders, file_folders
from league.populations.rules import ScoreOf
from orchestrator.spec import InvalidTrial, Problem, TrialFile, TrialSpec
from orchestrator.spec.reading.changes import given_json, merge_changes
from orchestrator.spec.reading.checking import check_spec
from orchestrator.spec.reading.loading import load_trial_file
from orchestrator.spec.values import is_id

SERVED = "a trial trains with mode: train; lanista serve --trial FILE serves one that says mode: serve"

TrialSource = str | Path | Mapping[str, Any] | TrialSpec
"""A trial file by its path, or its content."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A trial to run."""

    name: str
    spec: TrialSpec
    folders: tuple[Path, ...]
    """Where code, weights and data that the trial names are looked for."""


def read_source(source: TrialSource, changes: Mapping[str, Any] | None = None, *, steps: int | None = None) -> Source:
    """The trial, checked; raises InvalidTrial. The folder of a file can be imported from afterwards.

    `steps` replaces those of its budget.
    """
    file = Path(source) if isinstance(source, str | Path) else None
    folders = code_folders(file)
    if isinstance(source, str | Path):
        source = load_trial_file(source)
    _refuse_serving(source)
    name = source.trial if isinstance(source, TrialFile) else "trial"
    if isinstance(source, Mapping):
        name = str(source.get("trial", name))
        spec = check_spec({key: value for key, value in source.items() if key not in ("project", "trial", "mode")})
    else:
        spec = source.spec if isinstance(source, TrialFile) else source
    changes = merge_changes(changes or {}, {} if steps is None else {"budget": {"steps": steps}})
    if changes:
        spec = check_spec(merge_changes(given_json(spec), changes))
    _refuse_versions(spec)
    _refuse_ratings(spec)
    make_importable(folders)
    return Source(name=name, spec=spec, folders=file_folders(file))


def make_importable(folders: Sequence[Path]) -> None:
    """Let `module:name` find the modules of these folders, in this order and before all others."""
    places = [str(folder) for folder in folders]
    sys.path[:] = [*places, *(place for place in sys.path if place not in places)]
    problem = shadowed()
    if problem is not None:
        raise ImportError(problem)


def _refuse_serving(source: TrialSource) -> None:
    """A file that says `mode: serve` is there to be served."""
    mode = source.mode if isinstance(source, TrialFile) else source.get("mode") if isinstance(source, Mapping) else None
    if mode not in (None, "train"):
        raise InvalidTrial([Problem(path="mode", message=SERVED, value=mode)])


def _refuse_ratings(spec: TrialSpec) -> None:
    """Ratings are fitted by a stack's store, which one process does not have."""
    words = "one process fits no ratings: say return or win_rate, or start the trial on a stack"
    problems = [
        Problem(path=f"league.players[{number}].population.exploit.by", message=words, value=ScoreOf.RATING.value)
        for number, each in enumerate(spec.league.players)
        if each.population is not None and each.population.exploit.by is ScoreOf.RATING
    ]
    if problems:
        raise InvalidTrial(problems)


def _refuse_versions(spec: TrialSpec) -> None:
    """Versions are in the store of a stack, which one process does not have."""
    named = {"initial_weights": spec.initial_weights}
    named |= {f"league.players[{number}].weights": each.weights for number, each in enumerate(spec.league.players)}
    words = "names a version of a stack's store; one process has none: give a file as initial_weights"
    problems = [
        Problem(path=path, message=words, value=value)
        for path, value in named.items()
        if value is not None and is_id(value)
    ]
    if problems:
        raise InvalidTrial(problems)
