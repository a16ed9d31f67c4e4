"""Models of a gateway: what arrives in one turn of the event loop is decided as one batch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import structlog
from numpy.typing import NDArray

from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout
from workers.gateway.quick import QuickPerceptron
from workers.inference.actor import STATE, Actor, Rate

log = structlog.get_logger()

Row = dict[str, NDArray[Any]]
Decided = Callable[[Row | Exception], None]

MOST_ROWS = 1024
"""Rows of one call of the actor."""
_DRAWS = 4096


class BatchedModel:
    """One version, shared by all sessions that it plays in. See `workers.gateway.contract.Model`."""

    def __init__(
        self,
        actor: Actor,
        spec: GameSpec,
        version: str,
        *,
        update: int = 0,
        greedy: bool = False,
        explore: Rate = 0.0,
        seed: int = 0,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """`greedy` plays the best action; otherwise actions are drawn from numbers that the seed decides."""
        if getattr(actor, "placed", False):
            raise ValueError(
                f"{version}: its rows depend on those of its mates in the same step; sessions decide one by one"
            )
        self._loop = asyncio.get_running_loop() if loop is None else loop
        self._layout = ActionLayout(spec.action)
        self._rng = np.random.default_rng(seed)
        self._greedy, self.explore = greedy, explore
        self._shape = self._layout.draws_shape(1)[1:]
        self._draws, self._drawn = self._draw(), 0
        self._waiting: list[tuple[Row, Decided]] = []
        self.batches = self.rows = 0
        """What was decided so far, for metrics."""
        self.swap(actor, version, update)

    def swap(self, actor: Actor, version: str | None = None, update: int = 0) -> None:
        """Decide by this actor from now on, which may be the same one with other weights. No row is lost."""
        self.actor, self.update = actor, update
        if version is not None:
            self.version = version
        self._quick = QuickPerceptron(actor) if QuickPerceptron.fits(actor) else None  # type: ignore[arg-type]

    def submit(self, rows: Row, decided: Decided) -> None:
        """See `Model`."""
        if not self._waiting:
            self._loop.call_soon(self._decide)
        self._waiting.append((rows, decided))

    def _decide(self) -> None:
        waiting, self._waiting = self._waiting, []
        for start in range(0, len(waiting), MOST_ROWS):
            self._decide_batch(waiting[start : start + MOST_ROWS])

    def _decide_batch(self, batch: list[tuple[Row, Decided]]) -> None:
        count = len(batch)
        self.batches += 1
        self.rows += count
        try:
            if count == 1:
                answers: list[Row | Exception] = [self._act(batch[0][0], 1)]
            else:
                names = batch[0][0]
                rows = {name: np.concatenate([row[name] for row, _ in batch]) for name in names}
                decided = self._act(rows, count)
                answers = list(_split(decided, count))
        except Exception as error:
            # one row may be the cause: decide each row by itself, so that the others still get an answer
            answers = [error] if count == 1 else [self._alone(row) for row, _ in batch]
        for (_, tell), answer in zip(batch, answers, strict=True):
            try:
                tell(answer)
            except Exception:  # a caller's bug must not keep the others from their answers
                log.exception("a decision could not be handed over", version=self.version)

    def _alone(self, row: Row) -> Row | Exception:
        try:
            return self._act(row, 1)
        except Exception as error:
            return error

    def _act(self, rows: Row, count: int) -> Row:
        draws = None if self._greedy else self._uniform(count)
        if self._quick is not None and count <= self._quick.most_rows:
            return self._quick.act(rows, draws)
        return dict(self.actor.act(rows, draws, self.explore))

    def _uniform(self, count: int) -> NDArray[np.float32]:
        """The next draws; they are made in advance, since a call for one number costs as much as for a thousand."""
        if self._drawn + count > _DRAWS:
            self._draws, self._drawn = self._draw(), 0
        self._drawn += count
        return self._draws[self._drawn - count : self._drawn]

    def _draw(self) -> NDArray[np.float32]:
        return self._rng.random((_DRAWS, *self._shape), dtype=np.float32)


def _split(columns: Row, count: int) -> Iterator[Row]:
    """The rows of an answer. States are copied: a session that waits long would keep the whole batch in memory."""
    states = [name for name in columns if name.startswith(STATE)]
    for number in range(count):
        row = {name: column[number : number + 1] for name, column in columns.items()}
        for name in states:
            row[name] = row[name].copy()
        yield row
