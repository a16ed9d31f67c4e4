"""Bots by name, as trial files and tournaments write them: `random`, `mcts-100`, `minimax-0.3`, ..."""

import inspect

from orchestrator.catalog import CatalogError, Kind, load, resolve
from workers.bots.protocol import BadBot, Bot
from workers.games.protocol import GameSpec


def make_bot(name: str, spec: GameSpec) -> Bot:
    """The bot the catalog knows by this name (or a `module:attr`), for this game."""
    try:
        make, options = load(Kind.BOT, name), resolve(Kind.BOT, name).options
    except CatalogError as error:
        raise BadBot(str(error)) from error
    if not callable(make):
        raise BadBot(f"bot {name!r} is a {type(make).__name__}; allowed: a subclass of {Bot.__qualname__}")
    try:
        inspect.signature(make).bind(spec, **options)
    except TypeError as error:
        raise BadBot(f"bot {name!r}: {error}") from error
    except ValueError:
        pass  # a callable of a C extension may have no signature to check
    bot = make(spec, **options)
    if not isinstance(bot, Bot):
        raise BadBot(f"bot {name!r} makes a {type(bot).__name__}; allowed: a subclass of {Bot.__qualname__}")
    return bot
