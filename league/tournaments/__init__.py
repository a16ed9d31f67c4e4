"""Tournaments: the next pairings as a pure function of the results so far."""

from league.tournaments.formats import FORMATS, TournamentFormat, next_pairings
from league.tournaments.knockout import knockout_placings
from league.tournaments.pairing import BYE, GameKey, Pairing, Result, game_keys
from league.tournaments.standings import Standing, ranked_by_place, standings

__all__ = [
    "BYE",
    "FORMATS",
    "GameKey",
    "Pairing",
    "Result",
    "Standing",
    "TournamentFormat",
    "game_keys",
    "knockout_placings",
    "next_pairings",
    "ranked_by_place",
    "standings",
]
