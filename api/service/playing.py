"""Games of people against versions, kept in this process while they last: nothing of them is recorded."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace

from sqlalchemy.orm import Session

from api.activities.contenders import contender
from api.store.models import Player, Trial
from api.store.queries.players import get_version
from api.store.specs import spec_of
from orchestrator.catalog import Component
from orchestrator.contracts.interactive import MoveAnswer, MoveRequest
from orchestrator.contracts.play import Contender

MOST_GAMES = 1_000
KEPT_SECONDS = 3_600.0


@dataclass
class PersonsGame:
    """One game under way."""

    id: str
    version_id: str
    token_id: str
    request: MoveRequest
    answer: MoveAnswer
    touched: float = field(default_factory=time.monotonic)
    answered: OrderedDict[str, MoveAnswer] = field(default_factory=OrderedDict)
    """By Idempotency-Key: a move that is sent twice is made once."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def next_request(self, action: int) -> MoveRequest:
        return replace(self.request, moves=self.answer.moves, action=action)

    def take(self, answer: MoveAnswer, key: str) -> None:
        self.answer = self.answered[key] = answer
        self.touched = time.monotonic()


class GameTable:
    """The games of this process; the oldest make room."""

    def __init__(self) -> None:
        self._games: OrderedDict[str, PersonsGame] = OrderedDict()

    def add(self, game: PersonsGame) -> None:
        self._games[game.id] = game
        now = time.monotonic()
        while self._games and (
            len(self._games) > MOST_GAMES or now - next(iter(self._games.values())).touched > KEPT_SECONDS
        ):
            self._games.popitem(last=False)

    def find(self, game_id: str, token_id: str) -> PersonsGame | None:
        """The game, for the one who began it."""
        game = self._games.get(game_id)
        if game is None or game.token_id != token_id:
            return None
        self._games.move_to_end(game_id)
        return game


def opponent_of(session: Session, version_id: str) -> tuple[Contender, Component]:
    """A version as an opponent, and the game it plays."""
    version, _ = get_version(session, version_id)
    player = session.get_one(Player, version.player_id)
    trial = session.get_one(Trial, version.trial_id)
    return contender(player, version), spec_of(trial).game.component
