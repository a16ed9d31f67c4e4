"""A player's version as one side of a play request."""

from __future__ import annotations

from dataclasses import replace

from api.store.core.errors import Conflict
from api.store.players.weights import checkpoint_of
from api.store.tables import ModelVersion, Player
from orchestrator.contracts.play import Contender
from orchestrator.searching import searching_bot


def contender(player: Player, version: ModelVersion, search: int | None = None) -> Contender:
    """One side of a match; with `search`, the version plays by so many simulations a move."""
    plain = Contender(version=version.id, player=player.id, checkpoint=checkpoint_of(version), bot=player.bot)
    if search is None:
        return plain
    if version.sha256 is None:
        raise Conflict(f"{player.name} is a bot; only versions search")
    return replace(plain, checkpoint=None, bot=searching_bot(search, version.sha256))
