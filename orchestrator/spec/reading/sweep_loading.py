"""Reads sweep files; reports all problems at once, with file, line and column."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from orchestrator.spec.reading.checking import found_in
from orchestrator.spec.reading.problems import InvalidTrial, Problem
from orchestrator.spec.reading.yaml_source import Document, TextError, read_yaml
from orchestrator.spec.sweeps.points import problems_of
from orchestrator.spec.sweeps.sweep import SweepFile, SweepSpec, grid_problem
from orchestrator.spec.values import NAME_PATTERN

BASE = "base"
"""The key of a sweep file that names a trial file, instead of `trial`."""


def check_sweep(data: Any) -> SweepSpec:
    """Check a sweep of a request; raises InvalidTrial."""
    try:
        spec = TypeAdapter(SweepSpec).validate_python(data)
    except ValidationError as error:
        raise InvalidTrial(problem for _, problem, _ in found_in(error)) from None
    problems = _further(spec)
    if problems:
        raise InvalidTrial(problems)
    return spec


def load_sweep_file(path: str | Path) -> SweepFile:
    """Read a sweep file, and the trial file that it names; raises InvalidTrial."""
    path = Path(path)
    return parse_sweep(_text(path), folder=path.parent, source=str(path), name=_name_of(path))


def parse_sweep(text: str, *, folder: Path | None, source: str = "", name: str | None = None) -> SweepFile:
    """Read a sweep from YAML text; `base` is a path from the folder, and refused without one. Raises InvalidTrial."""
    document = _document(text, source)
    data = document.value
    if not isinstance(data, dict):
        raise InvalidTrial([Problem(path="", message="must be a mapping of options", source=source)])
    problems = list(document.problems)
    if BASE in data:
        if folder is None:
            line, column = document.place((BASE,))
            message = "no file of yours can be read here: give the trial itself as trial"
            raise InvalidTrial([Problem(path=BASE, message=message, line=line, column=column)])
        data = _with_base(folder, data, source)
    data = {**({"sweep": name} if name else {}), **_project_of(data), **data}
    try:
        sweep = SweepFile.model_validate(data)
    except ValidationError as error:
        for found, problem, of_key in found_in(error):
            line, column = document.place(found, of_key=of_key)
            problems.append(replace(problem, line=line, column=column))
    else:
        problems += [_placed(problem, document) for problem in _further(sweep)]
    if problems:
        raise InvalidTrial(replace(problem, source=source) for problem in problems)
    return sweep


def _further(spec: SweepSpec) -> list[Problem]:
    """What only the whole sweep shows: a grid without values, and trials that are refused."""
    wrong = grid_problem(spec)
    return [Problem(path="space", message=wrong)] if wrong else problems_of(spec)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except OSError as error:
        raise InvalidTrial([Problem(path="", message=f"cannot be read: {error.strerror}", source=str(path))]) from None
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 text (byte {error.start})"
        raise InvalidTrial([Problem(path="", message=message, source=str(path))]) from None


def _document(text: str, source: str) -> Document:
    try:
        return read_yaml(text)
    except TextError as error:
        line, column = error.place
        raise InvalidTrial([Problem(path="", message=str(error), line=line, column=column, source=source)]) from None


def _with_base(folder: Path, data: dict[str, Any], source: str) -> dict[str, Any]:
    """The sweep with the trial file that `base` names as its `trial`."""
    if "trial" in data:
        message = "give base, a trial file, or trial, the trial itself; not both"
        raise InvalidTrial([Problem(path=BASE, message=message, source=source)])
    if not isinstance(data[BASE], str):
        raise InvalidTrial([Problem(path=BASE, message="must be the path of a trial file", source=source)])
    path = folder / data[BASE]
    base = _document(_text(path), str(path))
    if base.problems:
        raise InvalidTrial(replace(problem, source=str(path)) for problem in base.problems)
    return {**{name: value for name, value in data.items() if name != BASE}, "trial": base.value}


def _project_of(data: dict[str, Any]) -> dict[str, Any]:
    trial = data.get("trial")
    project = trial.get("project") if isinstance(trial, dict) else None
    return {"project": project} if isinstance(project, str) else {}


def _placed(problem: Problem, document: Document) -> Problem:
    """The problem with the line of the nearest key that the file has."""
    section, _, rest = problem.path.partition(".")
    path: tuple[str | int, ...] = (section, rest) if section == "space" and rest else tuple(problem.path.split("."))
    if section == "trial" and BASE in document.value:
        path = (BASE,)
    line, column = document.place(path)
    return replace(problem, line=line, column=column)


def _name_of(path: Path) -> str | None:
    name = path.stem.lower().replace("_", "-")
    return name if re.fullmatch(NAME_PATTERN, name) else None
