"""Commentary on a running league: applies `league.commentary` to the answers of the API."""

from __future__ import annotations

from api.schemas.players import Player
from lanista.client import League
from league.commentary import Look, Record, Seen


def look_at(league: League) -> Look:
    """The league as commentary reads it: its players, and all their games so far."""
    payoff, by_id = league.payoff, {player.id: player for player in league.players}
    names = [player.name for player in payoff.players]
    records = {
        (row, column): Record(wins=payoff.wins[i][j], draws=payoff.draws[i][j], losses=payoff.losses[i][j])
        for i, row in enumerate(names)
        for j, column in enumerate(names)
        if payoff.games(i, j)
    }
    return Look(players={player.name: _seen(player, by_id) for player in league.players}, records=records)


def _seen(player: Player, by_id: dict[str, Player]) -> Seen:
    parent = None if player.parent_id is None else by_id.get(player.parent_id)
    return Seen(role=player.role, generation=player.generation, parent=None if parent is None else parent.name)
