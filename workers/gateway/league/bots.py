"""Bots as actors of a session's seat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Never

import numpy as np
from numpy.typing import NDArray

from workers.bots.protocol import BadBot, Bot, BotInput
from workers.games.spaces import from_columns
from workers.inference.actor import Columns, Rate


class BotActor:
    """Decides by a bot that needs no history of the game, which only the outside process knows."""

    state_shapes: ClassVar[Mapping[str, tuple[int, ...]]] = {}

    def __init__(self, bot: Bot, seat: int) -> None:
        self._bot, self._seat = bot, seat
        self._rng = np.random.default_rng()

    def act(self, rows: Columns, draws: NDArray[np.float32] | None, explore: Rate = 0.0) -> dict[str, NDArray[Any]]:
        """See `Actor`."""
        observed = from_columns(rows)
        count = len(next(iter(observed.values())) if isinstance(observed, dict) else observed)
        inputs = BotInput(
            seats=np.full(count, self._seat, np.int64),
            observations=observed,
            legal=rows.get("legal"),
            keys=self._rng.integers(0, 2**64, count, dtype=np.uint64),
            history=self._no_history,
        )
        return {"action": self._bot.act(inputs)}

    def _no_history(self, row: int) -> Never:
        raise BadBot(f"{type(self._bot).__name__} needs the history of the game, which games that call in do not tell")
