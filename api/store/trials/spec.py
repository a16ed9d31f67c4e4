"""A trial's file, read back from its row."""

from __future__ import annotations

import json
from typing import Any

from api.store.tables import Player, Trial
from orchestrator.catalog import Component
from orchestrator.spec import TrialSpec
from orchestrator.spec.checking import check_algorithm
from orchestrator.spec.components import Choice


def spec_of(trial: Trial) -> TrialSpec:
    """The trial file as one typed tree; names are not looked up again, for a plug-in may be gone since."""
    return TrialSpec.model_validate(trial.spec)


def algorithm_of(spec: TrialSpec, hyperparameters: dict[str, Any]) -> Component:
    """The trial's algorithm with a player's own options on top; raises InvalidTrial for options it does not have."""
    return check_algorithm({**spec.algorithm.to_json(), **hyperparameters}).component


def own_algorithm(trial: Trial, player: Player) -> Component:
    """How this player learns."""
    return algorithm_of(spec_of(trial), player.hyperparameters)


def game_key(game: Choice) -> str:
    """The game with its options as one text: what must be equal for two versions to meet."""
    options = game.model_dump(mode="json", exclude={"id"})
    if not options:
        return game.id
    return f"{game.id} {json.dumps(options, sort_keys=True, separators=(',', ':'))}"
