"""Which games a trial keeps."""

from __future__ import annotations

from typing import Any

from orchestrator.catalog import Component

DUMP = "dump"
"""The key of a game's options and of a cast's `info` that says which games to keep: {"every": 1000, "keep": 100}."""


def kept_games(game: Component) -> dict[str, Any]:
    """What a cast's `info` says about it; nothing where no game is kept."""
    dump = game.options.get(DUMP)
    return {DUMP: dict(dump)} if isinstance(dump, dict) else {}
