"""A trial's spec, read from its row, and the key of its game."""

from __future__ import annotations

import json
from typing import Any

from api.store.tables import Player, Trial
from orchestrator.catalog import Component
from orchestrator.spec import TrialSpec
from orchestrator.spec.checking import check_algorithm
from orchestrator.spec.components import Choice


def spec_of(trial: Trial) -> TrialSpec:
    """The trial's spec; names are not looked up again, since a plug-in may have been removed."""
    return TrialSpec.model_validate(trial.spec)


def algorithm_of(spec: TrialSpec, hyperparameters: dict[str, Any]) -> Component:
    """The trial's algorithm with a player's options merged in; raises InvalidTrial for unknown options."""
    return check_algorithm({**spec.algorithm.to_json(), **hyperparameters}).component


def own_algorithm(trial: Trial, player: Player) -> Component:
    """The algorithm of this player."""
    return algorithm_of(spec_of(trial), player.hyperparameters)


def game_key(game: Choice) -> str:
    """The game and its options as one text; equal for all versions that may play each other."""
    options = game.arguments
    if not options:
        return game.id
    return f"{game.id} {json.dumps(options, sort_keys=True, separators=(',', ':'))}"
