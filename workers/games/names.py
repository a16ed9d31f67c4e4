"""Games by name, as trial files write them, with checked options."""

import inspect
from typing import Any

from orchestrator.catalog import Kind, load_maker
from workers.games.errors import BadGame
from workers.games.protocol import VectorGame


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
    return game


def _options(make: Any) -> str:
    """The options a game takes, as it declares them; those that must be given are marked."""
    named = [
        f"{name} (required)" if parameter.default is parameter.empty else name
        for name, parameter in inspect.signature(make).parameters.items()
        if name != "tables"
    ]
    return ", ".join(named) or "none"
