"""A trial's spec, read from its row, and the key of its game."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from api.store.tables import Player, Trial
from orchestrator.catalog import Component
from orchestrator.spec import InvalidTrial, TrialSpec
from orchestrator.spec.algorithms.choice import AlgorithmChoice
from orchestrator.spec.components import Choice
from orchestrator.spec.model import ModelChoice
from orchestrator.spec.reading.checking import check_algorithm
from orchestrator.spec.reading.problems import Problem, shown
from orchestrator.user_code.code_archives import plain_name

_MODEL: TypeAdapter[Choice] = TypeAdapter(ModelChoice)
_ALGORITHM: TypeAdapter[Choice] = TypeAdapter(AlgorithmChoice)


def spec_of(trial: Trial) -> TrialSpec:
    """The trial's spec; names are not looked up again, since a plug-in may have been removed."""
    return TrialSpec.model_validate(trial.spec)


def retuned(spec: TrialSpec, own: dict[str, Any] | None, hyperparameters: dict[str, Any]) -> Choice:
    """A player's algorithm: its own or else the trial's, with the hyperparameters merged in.

    Raises InvalidTrial for options that the algorithm does not have, and for another algorithm.
    """
    algorithm = own or spec.algorithm.to_json()
    wanted = hyperparameters.get("id", algorithm["id"])
    if wanted != algorithm["id"]:
        reason = f"hyperparameters are options of the player's algorithm, {algorithm['id']}; another needs a new player"
        raise InvalidTrial([Problem(path="id", message=reason, value=shown(wanted))])
    return check_algorithm({**algorithm, **hyperparameters})


def algorithm_of(spec: TrialSpec, own: dict[str, Any] | None, hyperparameters: dict[str, Any]) -> Component:
    """The same as workers take it."""
    return retuned(spec, own, hyperparameters).component


def own_algorithm(trial: Trial, player: Player) -> Component:
    """The algorithm of this player."""
    return algorithm_of(spec_of(trial), player.algorithm, player.hyperparameters)


def model_choice(stored: dict[str, Any]) -> Choice:
    """A model as a row has it; its name is not looked up again."""
    return _MODEL.validate_python(stored)


def algorithm_choice(stored: dict[str, Any]) -> Choice:
    """An algorithm as a row has it; its name is not looked up again."""
    return _ALGORITHM.validate_python(stored)


def model_of(spec: TrialSpec, own: dict[str, Any] | None) -> Choice:
    """A player's model: its own or else the trial's."""
    return spec.model if own is None else model_choice(own)


def game_key(game: Choice) -> str:
    """The game and its options as one text; equal for all versions that may play each other.

    Of own code it is the name that its author wrote: a game whose code was edited stays the same game.
    """
    name, options = plain_name(game.id), game.arguments
    if not options:
        return name
    return f"{name} {json.dumps(options, sort_keys=True, separators=(',', ':'))}"
