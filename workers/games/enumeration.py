"""Whether a game is small enough for NashConv: every history is walked, up to a limit."""

from __future__ import annotations

from collections.abc import Callable

import pyspiel

from workers.games.errors import BadGame
from workers.games.exploitability import Placeable
from workers.games.played_exploitability import count_positions
from workers.games.protocol import VectorGame
from workers.games.remote import RemoteGame

MOST_HISTORIES = 50_000
"""More take longer than a few seconds, after every evaluation. Leduc poker has 9,457, tic-tac-toe 549,946."""


def check_enumerable(make: Callable[[int], VectorGame], most: int = MOST_HISTORIES) -> None:
    """Raise BadGame, with the reason, unless NashConv of a policy can be computed after every evaluation."""
    game = make(1)
    spec = game.spec
    if isinstance(game, RemoteGame):
        raise BadGame("NashConv needs a game whose every line can be played; a game that calls in cannot")
    if not spec.discrete:
        raise BadGame(f"NashConv needs Discrete actions; those of {spec.id} are {spec.action}")
    played = spec.openspiel is None or (spec.simultaneous and spec.max_steps > 1)
    if played and spec.chance and spec.openspiel is None:
        raise BadGame(
            f"{spec.id} has chance, of which a trial cannot know every outcome; NashConv needs a game without"
        )
    count = count_positions(make, most) if played else _count_histories(str(spec.openspiel), most)
    if count > most:
        raise BadGame(f"{spec.id} has more than {most:,} histories, too many to compute NashConv after each evaluation")
    if not played and not spec.simultaneous and not isinstance(game, Placeable):
        raise BadGame(f"{spec.id}: NashConv needs a game with a method `place`")


def _count_histories(name: str, most: int) -> int:
    """How many histories the game has; stops above `most`."""
    waiting = [pyspiel.load_game_as_turn_based(name).new_initial_state()]
    count = 0
    while waiting and count <= most:
        state = waiting.pop()
        count += 1
        if not state.is_terminal():
            waiting += [state.child(action) for action in state.legal_actions()]
    return count
