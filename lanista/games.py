"""Names for your own games and bots: `from lanista.games import GameSpec, VectorGame`."""

from workers.bots.protocol import Bot, BotInput
from workers.games.errors import BadGame, IllegalAction
from workers.games.names import make_game
from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame
from workers.games.seeding import below, mix, mix_ints, uniform
from workers.games.spaces import ActionLayout

__all__ = [
    "ActionLayout",
    "BadGame",
    "Bot",
    "BotInput",
    "GameSpec",
    "IllegalAction",
    "StepResult",
    "Turn",
    "VectorGame",
    "below",
    "make_game",
    "mix",
    "mix_ints",
    "uniform",
]
