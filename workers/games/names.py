"""Games by name, as trial files write them, with checked options."""

import inspect
from typing import Any

import numpy as np

from orchestrator.catalog import Kind, load_maker
from workers.games.errors import BadGame
from workers.games.protocol import VectorGame

TRIED_STEPS = 200
"""Steps of random play after which a game counts as one in which all seats earn the same."""


def make_game(id: str, tables: int, **options: Any) -> VectorGame:
    """The game the catalog knows by this id (or a `module:attr`) on so many tables.

    An unknown id raises the catalog's error, which lists the known ones.
    """
    make = load_maker(Kind.GAME, id, VectorGame, wanted="a subclass of VectorGame")
    try:
        inspect.signature(make).bind(tables=tables, **options)
    except TypeError as error:
        raise BadGame(f"game {id!r}: {error}; options: {_options(make)}") from error
    game = make(tables=tables, **options)
    if not isinstance(game, VectorGame):
        raise BadGame(f"game {id!r} makes a {type(game).__name__}; allowed: a subclass of VectorGame")
    return game


def make_new_game(id: str, tables: int, **options: Any) -> VectorGame:
    """`make_game` for a trial that is about to start: it must say which seats play together.

    Trials that started before the question existed go on with each seat for itself.
    """
    game = make_game(id, tables, **options)
    if game.teams_question is not None:
        raise BadGame(game.teams_question)
    if game.teams_question_if_equal is not None and _earn_the_same(game):
        raise BadGame(game.teams_question_if_equal)
    return game


def _earn_the_same(game: VectorGame) -> bool:
    """Whether all seats earn the same, and not only nothing, in the first steps of random play."""
    rng = np.random.default_rng(0)
    game.reset(np.arange(game.tables, dtype=np.uint64))
    earned = False
    for _ in range(TRIED_STEPS):
        turn = game.turn()
        draws = rng.random((len(turn.tables), game.layout.width))
        rewards = game.step(game.layout.draw(draws, game.legal_of(turn))).rewards
        if (rewards != rewards[:, :1]).any():
            return False
        earned = earned or bool(rewards.any())
    return earned


def _options(make: Any) -> str:
    """The options a game takes, as it declares them; those that must be given are marked."""
    named = [
        f"{name} (required)" if parameter.default is parameter.empty else name
        for name, parameter in inspect.signature(make).parameters.items()
        if name != "tables"
    ]
    return ", ".join(named) or "none"
