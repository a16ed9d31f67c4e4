"""What keeps two deterministic players from repeating one game: sampled moves, and random openings where they suit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.store.tables import Trial
from orchestrator.spec.problems import InvalidTrial, Problem
from orchestrator.spec.tournament import TournamentSpec

# The store does not load games, so it knows the built-in ones by name: none in games of chance, of one seat or of
# simultaneous moves. Of all others whoever plays them finds out, and the games say how long their openings were.
OPENING_PLIES: Final[Mapping[str, int]] = {
    "connect_four": 4,
    "tic_tac_toe": 2,
    "kuhn_poker": 0,
    "leduc_poker": 0,
    "rock_paper_scissors": 0,
    "gymnasium": 0,
    "pettingzoo_parallel": 0,
}


def opening_plies(trial: Trial) -> int | None:
    """Random moves at the beginning of gating and rating games, shared within a pair; None: what suits the game."""
    return game_opening_plies(trial.spec["game"]["id"])


def game_opening_plies(game_id: str) -> int | None:
    """The same, by the game's name."""
    return OPENING_PLIES.get(game_id)


def with_openings_played(settings: dict[str, Any], played: int) -> dict[str, Any]:
    """The settings of a gate or evaluation, with the openings that its games had where that was left to the game."""
    return {**settings, "opening_plies": played} if settings["opening_plies"] is None else settings


def check_variety(spec: TournamentSpec, game_id: str) -> None:
    """Refuse a tournament that would repeat one game for ever; raises InvalidTrial."""
    if not spec.sampled and spec.opening_plies == 0 and OPENING_PLIES.get(game_id, 0) > 0:
        words = (
            "must be above 0 with sampled: false, or each pair would repeat one game for ever; "
            f"leave it out for openings that suit the game ({OPENING_PLIES[game_id]} plies)"
        )
        raise InvalidTrial([Problem(path="opening_plies", message=words, value="0")])
