"""Players and versions as those who play see them."""

from __future__ import annotations

from api.store.models import ModelVersion, Player
from api.store.weights import checkpoint_of
from orchestrator.contracts.play import Contender


def contender(player: Player, version: ModelVersion) -> Contender:
    """One side of a match."""
    return Contender(version=version.id, player=player.id, checkpoint=checkpoint_of(version), bot=player.bot)
