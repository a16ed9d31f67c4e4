"""Random opening moves of gating and rating games, without which two deterministic players would repeat one game."""

from __future__ import annotations

from typing import Any

from api.store.tables import Trial
from orchestrator.catalog import game_opening_plies
from orchestrator.spec.reading.problems import InvalidTrial, Problem
from orchestrator.spec.tournament import TournamentSpec


def opening_plies(trial: Trial) -> int | None:
    """Random plies at the start of gating and rating games, shared within a pair; None: the worker decides."""
    return game_opening_plies(trial.spec["game"]["id"])


def with_openings_played(settings: dict[str, Any], played: int) -> dict[str, Any]:
    """The settings of a gate or evaluation with the opening length that the worker chose, if it had to choose."""
    return {**settings, "opening_plies": played} if settings["opening_plies"] is None else settings


def check_games_differ(spec: TournamentSpec, game_id: str) -> None:
    """Refuse a tournament that would repeat one game forever; raises InvalidTrial."""
    suitable = game_opening_plies(game_id)
    if not spec.sampled and spec.opening_plies == 0 and suitable:
        words = (
            "must be above 0 with sampled: false, or each pair would repeat one game forever; "
            f"leave it out for openings that suit the game ({suitable} plies)"
        )
        raise InvalidTrial([Problem(path="opening_plies", message=words, value="0")])
