"""The hyperparameters that a population varies, as metrics of its members' generations: its schedule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.store.tables import Player, Trial
from api.store.trials.spec import spec_of

PREFIX = "hyperparameter/"
"""How the names of these metrics begin."""


def explored_metrics(trial: Trial, player: Player, hyperparameters: Mapping[str, Any]) -> dict[str, float]:
    """The values that a member's generation was trained with, by metric; none for a player of no population."""
    if player.population is None:
        return {}
    explored = spec_of(trial).league.population(player.population).explore
    return {f"{PREFIX}{name}": float(hyperparameters[name]) for name in explored if name in hyperparameters}
