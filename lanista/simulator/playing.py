"""Plays games of an environment through a gateway, one after another."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field
from typing import Any

import msgpack  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

from lanista.simulator.exchange import Exchange, Refused
from lanista.simulator.wire import Address
from workers.agents.environment_agent import rows_message
from workers.games.protocol import VectorGame

_WAIT = 30.0
"""Seconds of one question what to play next."""
_RETRY = 1.0
"""Seconds until another try, where the gateway does not say or cannot be reached."""
_NOTHING_TO_PLAY, _NO_QUEUE = 503, 404


@dataclass(slots=True)
class PlayCounts:
    """What has been played."""

    games: int = 0
    ticks: int = 0
    refused: int = 0
    returns: list[float] = field(default_factory=list)
    """Summed, by seat."""
    problem: str = ""
    """The latest refusal or lost connection."""


@dataclass(slots=True)
class Quota:
    """How many games are to be played; 0: no end."""

    games: int = 0
    begun: int = 0

    def take(self) -> bool:
        """Whether another game may begin; it is then counted."""
        if self.games and self.begun >= self.games:
            return False
        self.begun += 1
        return True

    def give_back(self) -> None:
        """A game that was begun came to nothing."""
        self.begun -= 1


class Table:
    """One environment and the connection it plays on."""

    def __init__(self, game: VectorGame, address: Address, tally: PlayCounts, name: str = "") -> None:
        """`name` is what the trial file calls the game; empty where it has no name."""
        self._game, self._tally, self._name = game, tally, name
        self._exchange = Exchange(address)
        self._table = np.zeros(1, np.int64)

    async def play(self, quota: Quota) -> None:
        """Play until no further game may begin."""
        order: dict[str, Any] = {}
        while quota.take():
            try:
                await self._game_of(order)
                order = {}
            except Refused as refused:
                quota.give_back()
                self._note(str(refused))
                order = await self._wait(refused)
            except OSError as error:
                quota.give_back()
                self._note(str(error))
                order = {}
                await asyncio.sleep(_RETRY)
        self._exchange.close()

    async def _wait(self, refused: Refused) -> dict[str, Any]:
        """Until there may be something to play; what it is, where the gateway says so."""
        if refused.status == _NOTHING_TO_PLAY:
            try:
                return await self._exchange.next_game(_WAIT, self._name) or {}
            except Refused as unheard:
                if unheard.status != _NO_QUEUE:
                    self._note(str(unheard))
            except OSError as error:
                self._note(f"the gateway went away: {error}")
        await asyncio.sleep(refused.retry_after or _RETRY)
        return {}

    def _note(self, problem: str) -> None:
        self._tally.refused += 1
        self._tally.problem = problem

    async def _game_of(self, order: dict[str, Any]) -> None:
        game, session = self._game, f"simulator-{secrets.token_hex(8)}"
        seed = int(order.get("seed", secrets.randbits(63)))
        ticket = str(order.get("ticket", self._name))
        await self._exchange.step("start", session, _packed({"game": game.spec.id}), ticket)
        game.start(self._table, np.array([seed], np.uint64))
        earned = np.zeros(game.spec.seats, np.float64)
        returns = earned.copy()
        while True:
            turn = game.turn()
            body = _packed({**rows_message(turn), "rewards": earned.tolist()})
            actions = msgpack.unpackb(await self._exchange.step("tick", session, body))
            result = game.step(self._rows(actions))
            self._tally.ticks += 1
            earned = result.rewards[0].astype(np.float64)
            returns += earned
            if result.done[0]:
                break
        truncated = bool(result.truncated[0])
        final = rows_message(game.turn()) if truncated else None
        await self._exchange.step(
            "end", session, _packed({"rewards": earned.tolist(), "truncated": truncated, "final": final})
        )
        self._tally.games += 1
        before = self._tally.returns or [0.0] * len(returns)
        self._tally.returns = [old + new for old, new in zip(before, returns.tolist(), strict=True)]

    def _rows(self, actions: list[Any]) -> NDArray[Any]:
        """What the agent answered, one row for each seat that acts."""
        layout = self._game.layout
        return np.array(actions, layout.dtype).reshape(len(actions), *layout.shape)


def _packed(value: Any) -> bytes:
    packed: bytes = msgpack.packb(value)
    return packed
