"""Bots against bots, for the tests: every table's first game, played out."""

import numpy as np
from numpy.typing import NDArray

from workers.bots.names import make_bot
from workers.bots.protocol import bot_input
from workers.games.protocol import VectorGame


def play_out(game: VectorGame, names: tuple[str, ...], first_seed: int = 0) -> NDArray[np.float64]:
    """[tables, seats], what each seat earned in the game whose seed is the table's number past the first."""
    bots = [make_bot(name, game.spec) for name in names]
    game.reset(np.arange(game.tables, dtype=np.uint64) + np.uint64(first_seed))
    returns = np.zeros((game.tables, game.spec.seats))
    over = np.zeros(game.tables, np.bool_)
    while not over.all():
        turn = game.turn()
        actions = np.argmax(turn.legal, axis=1)
        for seat, bot in enumerate(bots):
            rows = np.flatnonzero((turn.seats == seat) & ~over[turn.tables])
            if len(rows):
                actions[rows] = bot.act(bot_input(game, turn, rows))
        result = game.step(actions)
        returns[~over] += result.rewards[~over]
        over |= result.done
    return returns
