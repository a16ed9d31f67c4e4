"""Signals: two mates each see a number and must name the other's, which they can do only if they talk."""

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from workers.games import svg
from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame
from workers.games.seeding import below, mix

NUMBERS = 4
_DRAWN = 31  # separates these draws from other draws on the same seed


class Signals(VectorGame):
    """One move at once; each seat earns 1/2 for the mate's number. Guessing earns the team 1/4, talking up to 1."""

    position_arrays = ("_numbers",)

    def __init__(self, *, tables: int) -> None:
        spec = GameSpec(
            id="signals",
            seats=2,
            actions=NUMBERS,
            observation_shape=(NUMBERS,),
            simultaneous=True,
            hidden_information=True,
            chance=True,
            max_steps=1,
            teams=(0, 0),
            state=spaces.Box(0.0, 1.0, (2 * NUMBERS,), np.float32),
        )
        super().__init__(spec, tables)
        self._numbers = np.zeros((tables, 2), np.int64)
        self._legal = np.ones((2 * tables, NUMBERS), np.bool_)
        self._done = np.ones(tables, np.bool_)

    def begin(self, tables: NDArray[np.int64]) -> None:
        seeds = self.seeds_of(tables)
        self._numbers[tables] = np.stack([below(mix(seeds, seat, _DRAWN), NUMBERS) for seat in range(2)], axis=1)

    def turn(self) -> Turn:
        shown = self.global_state().reshape(2 * self.tables, NUMBERS)
        return Turn(np.repeat(np.arange(self.tables), 2), np.tile(np.arange(2), self.tables), shown, self._legal)

    def global_state(self) -> NDArray[np.float32]:
        return np.eye(NUMBERS, dtype=np.float32)[self._numbers].reshape(self.tables, -1)

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        self.refuse_illegal(actions, self.turn())
        right = actions.reshape(-1, 2) == self._numbers[:, ::-1]
        return StepResult((right / 2).astype(np.float32), self._done, ~self._done)

    def render_text(self, table: int, seat: int | None = None) -> str:
        shown = [f"seat {s} sees {n}" for s, n in enumerate(self._numbers[table].tolist()) if seat in (None, s)]
        return "\n".join(shown)

    def render_svg(self, table: int, seat: int | None = None) -> str:
        """The number that each seat holds, as a card; the mate's is hidden from a seat."""
        parts = [svg.rect(0, 0, 220, 130, svg.FELT, radius=10)]
        for s, number in enumerate(self._numbers[table].tolist()):
            x = 30 + 110 * s
            parts.append(svg.label(x + 25, 24, f"seat {s}{' (you)' if seat == s else ''}", 13, svg.PALE))
            parts.append(svg.card(x, 36, str(number) if seat in (None, s) else "?"))
        return svg.document(220, 130, self.render_text(table, seat), parts)
