"""Tournaments: the next pairings as a pure function of the results so far."""

from league.tournaments.formats import FORMATS, TournamentFormat, next_pairings
from league.tournaments.pairing import BYE, GameKey, Pairing, Result, game_keys
from league.tournaments.standings import Standing, standings

__all__ = [
    "BYE",
    "FORMATS",
    "GameKey",
    "Pairing",
    "Result",
    "Standing",
    "TournamentFormat",
    "game_keys",
    "next_pairings",
    "standings",
]
