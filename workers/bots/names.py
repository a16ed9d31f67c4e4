"""Bots by name, as trial files and tournaments write them: `random`, `mcts-100`, `minimax-0.3`, ..."""

import re
from collections.abc import Callable

from orchestrator.catalog import CatalogError, Kind, load, resolve
from workers.bots.mcts import MctsBot
from workers.bots.minimax import MinimaxBot
from workers.bots.protocol import BadBot, Bot
from workers.bots.simple import FirstLegalBot, MixedBot, RandomBot, always
from workers.games.protocol import GameSpec

_NUMBER = r"\d+(?:\.\d+)?"

FORMS: dict[str, tuple[str, Callable[..., Bot]]] = {
    "random": ("random", RandomBot),
    "first-legal": ("first-legal", FirstLegalBot),
    "minimax": ("minimax", MinimaxBot),
    "minimax-random": ("minimax-random", lambda spec: MinimaxBot(spec, ties="random")),
    "minimax-<probability>": (
        rf"minimax-({_NUMBER})",
        lambda spec, skill: MinimaxBot(spec, ties="random", skill=float(skill)),
    ),
    "mcts-<simulations>": (r"mcts-(\d+)", lambda spec, n: MctsBot(spec, simulations=int(n))),
    "mixed-<p>-<p>-...": (
        rf"mixed-({_NUMBER}(?:-{_NUMBER})*)",
        lambda spec, given: MixedBot(spec, probabilities=[float(p) for p in given.split("-")]),
    ),
    "always-<action>": (r"always-(\w+)", always),
}
"""How a name is written -> (its pattern, what makes the bot from the game's spec and the pattern's groups)."""


def make_bot(name: str, spec: GameSpec) -> Bot:
    """The bot of this name for this game; names that are not built in are the catalog's."""
    for pattern, make in FORMS.values():
        match = re.fullmatch(pattern, name)
        if match is not None:
            return make(spec, *match.groups())
    try:
        made = load(Kind.BOT, name)(spec, **resolve(Kind.BOT, name).options)
    except CatalogError as error:
        raise BadBot(f"unknown bot {name!r}; written: {', '.join(FORMS)}. {error}") from error
    if not isinstance(made, Bot):
        raise BadBot(f"bot {name!r} makes a {type(made).__name__}; allowed: a subclass of {Bot.__qualname__}")
    return made
