"""Reads trial files; reports all problems at once, with file, line and column."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from orchestrator.spec.reading.checking import found_in, known_names
from orchestrator.spec.reading.problems import InvalidTrial, Problem
from orchestrator.spec.reading.yaml_source import Document, TextError, read_yaml
from orchestrator.spec.trial import TrialFile
from orchestrator.spec.values import NAME_PATTERN


def load_trial_file(path: str | Path) -> TrialFile:
    """Read a trial file; without `trial` in it, the file's name is the trial's. Raises InvalidTrial."""
    path = Path(path)
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise InvalidTrial([Problem(path="", message=f"cannot be read: {error.strerror}", source=str(path))]) from None
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 text (byte {error.start})"
        raise InvalidTrial([Problem(path="", message=message, source=str(path))]) from None
    return parse_trial(text, source=str(path), name=_name_of(path))


def parse_trial(text: str, *, source: str = "", name: str | None = None) -> TrialFile:
    """Read a trial from YAML text; `name` is its name if the text has none. Raises InvalidTrial."""
    try:
        document = read_yaml(text)
    except TextError as error:
        line, column = error.place
        problem = Problem(path="", message=str(error), line=line, column=column, source=source)
        raise InvalidTrial([problem]) from None
    problems = list(document.problems)
    data = document.value
    if name is not None and isinstance(data, dict):
        data = {"trial": name, **data}
    try:
        trial = TrialFile.model_validate(data, context=known_names(data))
    except ValidationError as error:
        problems += _placed(error, document)
    if problems:
        raise InvalidTrial(replace(problem, source=source) for problem in problems)
    return trial


def _placed(error: ValidationError, document: Document) -> list[Problem]:
    """The problems of a check, each with its line and column."""
    already = {problem.path for problem in document.problems}
    placed = []
    for path, problem, of_key in found_in(error):
        line, column = document.place(path, of_key=of_key)
        if problem.path not in already:
            placed.append(replace(problem, line=line, column=column))
    return placed


def _name_of(path: Path) -> str | None:
    name = path.stem.lower().replace("_", "-")
    return name if re.fullmatch(NAME_PATTERN, name) else None
