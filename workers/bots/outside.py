"""A player that exists only in the outside process of a game, which plays its seat itself."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from workers.bots.protocol import BadBot, Bot, BotInput
from workers.games.protocol import GameSpec
from workers.games.remote import REMOTE


class OutsideBot(Bot):
    """Stands for a player of a game that calls in; `name` is what the game calls it."""

    def __init__(self, spec: GameSpec, *, name: str) -> None:
        super().__init__(spec)
        self.name = name
        if spec.id.partition("/")[0] != REMOTE:
            raise BadBot(f"bot 'outside-{name}' is played by a game that calls in (id: remote); {spec.id} is none")

    def act(self, inputs: BotInput) -> NDArray[Any]:
        raise BadBot(f"bot 'outside-{self.name}' is played by the game itself, not here")
