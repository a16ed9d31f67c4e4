"""Bots by name, as trial files and tournaments write them: `random`, `mcts-100`, `minimax-0.3`, ..."""

import inspect
from typing import Any

from orchestrator.catalog import CatalogError, Kind, load_maker, resolve
from workers.bots.protocol import BadBot, Bot
from workers.games.protocol import GameSpec


def bot_maker(name: str) -> Any:
    """What makes the bot of this name; not called yet."""
    try:
        return load_maker(Kind.BOT, name, Bot, wanted=f"a subclass of {Bot.__qualname__}")
    except CatalogError as error:
        raise BadBot(str(error)) from error


def make_bot(name: str, spec: GameSpec) -> Bot:
    """The bot the catalog knows by this name (or a `module:attr`), for this game."""
    make, options = bot_maker(name), resolve(Kind.BOT, name).options
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
