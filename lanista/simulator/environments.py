"""Resolves the name of an environment to a game."""

from __future__ import annotations

import re
from typing import Any

from orchestrator.built_ins import GAMES
from workers.games.names import make_game
from workers.games.protocol import VectorGame

_PETTINGZOO = re.compile(r"(atari|butterfly|classic|mpe|sisl)/\w+_v\d+")
_ADAPTERS = ("gymnasium", "pettingzoo_aec", "pettingzoo_parallel")


class BadEnvironment(ValueError):
    """No environment, with words for whoever named it."""


def game_id(env: str) -> str:
    """The game that plays the environment: a built-in one of its name, else one of the adapters."""
    if env in GAMES and env not in _ADAPTERS:
        return env
    return "pettingzoo_aec" if _PETTINGZOO.fullmatch(env) else "gymnasium"


def make_environment(
    env: str, game: str | None, options: dict[str, Any], max_steps: int | None, seats: dict[str, Any]
) -> VectorGame:
    """One table of the environment. `game` names the adapter where the environment's name does not tell."""
    id = game or game_id(env)
    given: dict[str, Any] = dict(seats)
    if id in _ADAPTERS:
        given |= {"env": env, "options": options}
        if max_steps is not None:
            given["max_steps"] = max_steps
    elif id == env:
        given |= options
    else:
        raise BadEnvironment(f"--game is {id!r}; allowed: {', '.join(_ADAPTERS)}, or a built-in game's name as --env")
    made = make_game(id, 1, **given)
    made.auto_reset = False
    return made
