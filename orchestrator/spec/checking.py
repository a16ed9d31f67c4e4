"""Checks of what people send: everything wrong at once, names looked up in the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from orchestrator.spec.algorithm import AlgorithmChoice
from orchestrator.spec.components import OTHER, KnownNames
from orchestrator.spec.players import PlayerSpec
from orchestrator.spec.problems import InvalidTrial, Problem, path_text, shown
from orchestrator.spec.section import UNKNOWN_OPTION
from orchestrator.spec.trial import TrialSpec

Checked = TypeVar("Checked")
Path = tuple[str | int, ...]

_ALGORITHM: TypeAdapter[AlgorithmChoice] = TypeAdapter(AlgorithmChoice)


def check_spec(data: Any) -> TrialSpec:
    """A trial as REST sends it; raises InvalidTrial."""
    return _checked(TypeAdapter(TrialSpec), data)


def check_player(data: Any) -> PlayerSpec:
    """A player that is to join a running trial; raises InvalidTrial."""
    return _checked(TypeAdapter(PlayerSpec), data)


def check_algorithm(data: Any) -> AlgorithmChoice:
    """An algorithm with its options, as when a player is retuned; raises InvalidTrial."""
    return _checked(_ALGORITHM, data)


def found_in(error: ValidationError) -> Iterator[tuple[Path, Problem, bool]]:
    """Each problem with its path, and whether it is of a key and not of a value."""
    for detail in error.errors(include_url=False):
        path = tuple(_without_tags(detail))
        value = None if detail["input"] is ... else shown(detail["input"])
        yield path, Problem(path=path_text(path), message=detail["msg"], value=value), detail["type"] == UNKNOWN_OPTION


def known_names(data: Any) -> KnownNames:
    """The context of a check: what the trial itself names."""
    league = data.get("league") if isinstance(data, Mapping) else None
    players = league.get("players") if isinstance(league, Mapping) else None
    listed: Iterable[Any] = players if isinstance(players, list | tuple) else ()
    named = (player.get("name") for player in listed if isinstance(player, Mapping))
    return KnownNames(players=frozenset(name for name in named if isinstance(name, str)))


def _checked(adapter: TypeAdapter[Checked], data: Any) -> Checked:
    try:
        return adapter.validate_python(data, context=known_names(data))
    except ValidationError as error:
        raise InvalidTrial(problem for _, problem, _ in found_in(error)) from None


def _without_tags(detail: ErrorDetails) -> Iterator[str | int]:
    """Which class of a choice was tried is nothing the reader of a trial file can see."""
    for part in detail["loc"]:
        if not (isinstance(part, str) and part.startswith(OTHER[0]) and part.endswith(OTHER[-1])):
            yield part
