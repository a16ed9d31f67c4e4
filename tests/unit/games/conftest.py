"""The games the protocol's tests run on, and a way to play them at random."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from workers.games.connect_four import ConnectFour
from workers.games.gymnasium import GymnasiumGame
from workers.games.kuhn_poker import KuhnPoker
from workers.games.leduc_poker import LeducPoker
from workers.games.openspiel import OpenSpielGame
from workers.games.pettingzoo import AecGame, ParallelGame
from workers.games.protocol import VectorGame
from workers.games.rock_paper_scissors import RockPaperScissors
from workers.games.tic_tac_toe import TicTacToe

Make = Callable[[int], VectorGame]

MAKES: dict[str, Make] = {
    "connect_four": lambda tables: ConnectFour(tables=tables),
    "tic_tac_toe": lambda tables: TicTacToe(tables=tables),
    "rock_paper_scissors": lambda tables: RockPaperScissors(tables=tables),
    "kuhn_poker": lambda tables: KuhnPoker(tables=tables),
    "leduc_poker": lambda tables: LeducPoker(tables=tables),
    "openspiel": lambda tables: OpenSpielGame(tables=tables, game="leduc_poker(players=3)"),
    "openspiel_simultaneous": lambda tables: OpenSpielGame(tables=tables, game="goofspiel(num_cards=4)"),
    "gymnasium": lambda tables: GymnasiumGame(tables=tables, env="CartPole-v1", max_steps=30),
    "pettingzoo_aec": lambda tables: AecGame(tables=tables, env="classic/tictactoe_v3"),
    "pettingzoo_parallel": lambda tables: ParallelGame(tables=tables, env="classic/rps_v2"),
}


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
