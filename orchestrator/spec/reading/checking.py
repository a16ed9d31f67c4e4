"""Checks of trials that people send: reports all problems at once, and looks names up in the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from orchestrator.spec.algorithms.choice import AlgorithmChoice
from orchestrator.spec.components import OTHER, KnownNames
from orchestrator.spec.players import PlayerSpec
from orchestrator.spec.reading.problems import InvalidTrial, Problem, path_text, shown
from orchestrator.spec.section import UNKNOWN_OPTION
from orchestrator.spec.trial import TrialSpec
from orchestrator.user_code.import_folders import NotImportable, check_named

Checked = TypeVar("Checked")
Place = tuple[str | int, ...]

_ALGORITHM: TypeAdapter[AlgorithmChoice] = TypeAdapter(AlgorithmChoice)


def check_spec(data: Any) -> TrialSpec:
    """Check a trial of a REST request; raises InvalidTrial."""
    return _checked(TypeAdapter(TrialSpec), data)


def check_player(data: Any) -> PlayerSpec:
    """Check a player that is to join a running trial; raises InvalidTrial."""
    return _checked(TypeAdapter(PlayerSpec), data)


def check_algorithm(data: Any) -> AlgorithmChoice:
    """Check an algorithm and its options, as given to change a player's; raises InvalidTrial."""
    return _checked(_ALGORITHM, data)


def check_files(named: Iterable[tuple[str, str]], folders: Sequence[Path]) -> None:
    """Raise InvalidTrial where a file, given by its field and its path, lies outside the import folders."""
    problems = []
    for field, name in named:
        try:
            check_named(name, folders)
        except NotImportable as error:
            problems.append(Problem(path=field, message=str(error), value=shown(name)))
    if problems:
        raise InvalidTrial(problems)


def found_in(error: ValidationError) -> Iterator[tuple[Place, Problem, bool]]:
    """Each problem with its path, and whether the key is wrong, not the value."""
    for detail in error.errors(include_url=False):
        path = tuple(_without_tags(detail))
        value = None if detail["input"] is ... else shown(detail["input"])
        yield path, Problem(path=path_text(path), message=detail["msg"], value=value), detail["type"] == UNKNOWN_OPTION


def known_names(data: Any) -> KnownNames:
    """The context of a check: the names of the trial's own players."""
    league = data.get("league") if isinstance(data, Mapping) else None
    players = league.get("players") if isinstance(league, Mapping) else None
    listed: Iterable[Any] = players if isinstance(players, list | tuple) else ()
    # a population has no player of its own name, only members
    single = (player for player in listed if isinstance(player, Mapping) and player.get("population") is None)
    named = (player.get("name") for player in single)
    return KnownNames(players=frozenset(name for name in named if isinstance(name, str)))


def _checked(adapter: TypeAdapter[Checked], data: Any) -> Checked:
    try:
        return adapter.validate_python(data, context=known_names(data))
    except ValidationError as error:
        raise InvalidTrial(problem for _, problem, _ in found_in(error)) from None


def _without_tags(detail: ErrorDetails) -> Iterator[str | int]:
    """The path without the tags of a union's classes, which a trial file does not show."""
    for part in detail["loc"]:
        if not (isinstance(part, str) and part.startswith(OTHER[0]) and part.endswith(OTHER[-1])):
            yield part
