"""The games the protocol's tests run on, and a way to play them at random."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from orchestrator.catalog import Kind, built_in_names
from workers.games.adapters.gymnasium import GymnasiumGame
from workers.games.adapters.openspiel import OpenSpielGame
from workers.games.adapters.pettingzoo import AecGame, ParallelGame
from workers.games.names import make_game
from workers.games.protocol import VectorGame

Make = Callable[[int], VectorGame]

ADAPTED: dict[str, Make] = {
    "openspiel": lambda tables: OpenSpielGame(tables=tables, game="leduc_poker(players=3)"),
    "openspiel_simultaneous": lambda tables: OpenSpielGame(tables=tables, game="goofspiel(num_cards=4)"),
    "gymnasium": lambda tables: GymnasiumGame(tables=tables, env="CartPole-v1", max_steps=30),
    "pettingzoo_aec": lambda tables: AecGame(tables=tables, env="classic/tictactoe_v3"),
    "pettingzoo_parallel": lambda tables: ParallelGame(tables=tables, env="classic/rps_v2"),
}
ELSEWHERE = {"envpool", "remote"}
MAKES: dict[str, Make] = {
    **{name: partial(make_game, name) for name in built_in_names(Kind.GAME) if name not in {*ADAPTED, *ELSEWHERE}},
    **ADAPTED,
}
"""Every built-in game of the catalog, and games of others by their adapters; EnvPool's are in test_envpool.py, and
games that call in have no tables."""


@pytest.fixture(params=MAKES)
def make(request: pytest.FixtureRequest) -> Make:
    return MAKES[request.param]


@dataclass(frozen=True)
class Played:
    """One finished game as a record keeps it."""

    seed: int
    actions: tuple[int, ...]
    returns: tuple[float, ...]
    observations: tuple[bytes, ...]


def play(game: VectorGame, seeds: list[int], games: int) -> list[list[Played]]:
    """Each table's first games, moves chosen by a hash of seed and ply: the same at any table."""
    game.reset(np.array(seeds, np.uint64))
    done: list[list[Played]] = [[] for _ in seeds]
    now: list[tuple[list[int], list[bytes]]] = [([], []) for _ in seeds]
    returns = np.zeros((game.tables, game.spec.seats))
    while min(map(len, done)) < games:
        turn, named = game.turn(), game.game_seeds
        actions = np.zeros(len(turn.tables), np.int64)
        for row, (table, seat) in enumerate(zip(turn.tables, turn.seats, strict=True)):
            rng = np.random.default_rng([int(named[table]), int(game.plies[table]), int(seat)])
            actions[row] = rng.choice(np.flatnonzero(turn.legal[row]))
            now[table][0].append(int(actions[row]))
            now[table][1].append(turn.observations[row].tobytes())
        result = game.step(actions)
        returns += result.rewards
        for table in np.flatnonzero(result.done):
            moves, seen = now[table]
            done[table].append(Played(int(named[table]), tuple(moves), tuple(returns[table]), tuple(seen)))
            now[table] = ([], [])
            returns[table] = 0
    return [table[:games] for table in done]
