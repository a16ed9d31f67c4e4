"""Names for your own games and bots: `from lanista.games import GameSpec, VectorGame`."""

from workers.bots.names import make_bot
from workers.bots.protocol import BadBot, Bot, BotInput, bot_input
from workers.games.checking import GameReport, check_game
from workers.games.errors import BadGame, IllegalAction
from workers.games.exploitability import nash_conv
from workers.games.names import make_game
from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame
from workers.games.replay import Position, replay
from workers.games.seeding import below, mix, mix_ints, uniform
from workers.games.spaces import ActionLayout
from workers.games.svg import action_area

__all__ = [
    "ActionLayout",
    "BadBot",
    "BadGame",
    "Bot",
    "BotInput",
    "GameReport",
    "GameSpec",
    "IllegalAction",
    "Position",
    "StepResult",
    "Turn",
    "VectorGame",
    "action_area",
    "below",
    "bot_input",
    "check_game",
    "make_bot",
    "make_game",
    "mix",
    "mix_ints",
    "nash_conv",
    "replay",
    "uniform",
]
