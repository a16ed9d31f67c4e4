"""A player's version as one side of a play request."""

from __future__ import annotations

from api.store.players.weights import checkpoint_of
from api.store.tables import ModelVersion, Player
from orchestrator.contracts.play import Contender


def contender(player: Player, version: ModelVersion) -> Contender:
    """One side of a match."""
    return Contender(version=version.id, player=player.id, checkpoint=checkpoint_of(version), bot=player.bot)
