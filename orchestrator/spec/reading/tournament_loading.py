"""Reads tournament files; reports all problems at once, with file, line and column."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from orchestrator.spec.reading.checking import found_in, known_names
from orchestrator.spec.reading.problems import InvalidTrial, Problem
from orchestrator.spec.reading.yaml_source import TextError, read_yaml
from orchestrator.spec.tournament import TournamentFile


def load_tournament_file(path: Path) -> TournamentFile:
    """Read a tournament file; raises InvalidTrial."""
    source = str(path)
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise InvalidTrial([Problem(path="", message=f"cannot be read: {error.strerror}", source=source)]) from None
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 text (byte {error.start})"
        raise InvalidTrial([Problem(path="", message=message, source=source)]) from None
    try:
        document = read_yaml(text)
    except TextError as error:
        line, column = error.place
        problem = Problem(path="", message=str(error), line=line, column=column, source=source)
        raise InvalidTrial([problem]) from None
    problems = list(document.problems)
    try:
        tournament = TournamentFile.model_validate(document.value, context=known_names(document.value))
    except ValidationError as error:
        for found, problem, of_key in found_in(error):
            line, column = document.place(found, of_key=of_key)
            problems.append(replace(problem, line=line, column=column))
    if problems:
        raise InvalidTrial(replace(problem, source=source) for problem in problems)
    return tournament
