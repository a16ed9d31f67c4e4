"""Trial files that are learnt in a moment."""

from __future__ import annotations

from typing import Any

SMALL: dict[str, Any] = {
    "trial": "small",
    "game": {"id": "tic_tac_toe"},
    "model": {"id": "mlp", "hidden": [16]},
    "algorithm": {"id": "ppo", "rollout_steps": 8, "minibatch": 128, "learning_rate": 3e-3},
    "generation": {"steps": 2_048, "tables": 64, "openings": {"share": 0.0}},
    "evaluation": {"games": 40},
    "budget": {"steps": 6_000},
}


def league(preset: str, *players: dict[str, Any], **rules: Any) -> dict[str, Any]:
    """The same with these players; snapshots come after every second generation."""
    snapshot = {"min_steps": 4_096, "max_steps": 4_096, "win_rate": 1.0}
    return SMALL | {
        "budget": {"steps": 1_000_000},
        "league": {"preset": preset, "players": [*players], "snapshot": snapshot, **rules},
    }
