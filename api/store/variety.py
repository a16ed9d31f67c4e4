"""What keeps two deterministic players from repeating one game: sampled moves always, random openings where known."""

from __future__ import annotations

from api.store.models import Trial

# Random openings need a game whose seats move in turn and see everything; the store does not load games, so it
# knows them by name. Elsewhere the policies' own sampling is the variety.
_OPENING_PLIES = {"connect_four": 4, "tic_tac_toe": 2}


def opening_plies(trial: Trial) -> int:
    """Random moves at the beginning of gating and rating games, shared within a pair."""
    return game_opening_plies(trial.spec["game"]["id"])


def game_opening_plies(game_id: str) -> int:
    """The same, by the game's name."""
    return _OPENING_PLIES.get(game_id, 0)
