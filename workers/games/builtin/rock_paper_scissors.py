"""Rock, paper, scissors: one simultaneous move, a constant observation."""

import numpy as np
from numpy.typing import NDArray

from workers.games import svg
from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame

NAMES = ("rock", "paper", "scissors")


class RockPaperScissors(VectorGame):
    """Two seats choose at once; the winner gets 1, the loser -1. The observation is a constant."""

    position_arrays = ("_chosen",)

    def __init__(self, *, tables: int) -> None:
        spec = GameSpec(
            id="rock_paper_scissors",
            seats=2,
            actions=3,
            observation_shape=(1,),
            simultaneous=True,
            hidden_information=True,
            max_steps=1,
            action_names=NAMES,
            openspiel="matrix_rps",
        )
        super().__init__(spec, tables)
        self._turn = Turn(
            np.repeat(np.arange(tables), 2),
            np.tile(np.arange(2), tables),
            np.ones((2 * tables, 1), np.float32),
            np.ones((2 * tables, 3), np.bool_),
        )
        self._chosen = np.full((tables, 2), -1, np.int64)
        self._done = np.ones(tables, np.bool_)
        self._never = np.zeros(tables, np.bool_)
        self._rewards = np.zeros((tables, 2), np.float32)

    def begin(self, tables: NDArray[np.int64]) -> None:
        self._chosen[tables] = -1

    def turn(self) -> Turn:
        return self._turn

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        self.refuse_illegal(actions, self._turn)
        self._chosen[:] = actions.reshape(-1, 2)
        # In the cycle rock, paper, scissors each beats the one before it: 0 ties, 1 wins, 2 loses.
        ahead = (self._chosen[:, 0] - self._chosen[:, 1]) % 3
        self._rewards[:, 0] = np.array([0, 1, -1], np.float32)[ahead]
        self._rewards[:, 1] = -self._rewards[:, 0]
        return StepResult(self._rewards, self._done, self._never)

    def render_text(self, table: int, seat: int | None = None) -> str:
        return "\n".join(f"seat {s}: {name}" for s, name in enumerate(self._shown(table)))

    def render_svg(self, table: int, seat: int | None = None) -> str:
        parts = [svg.rect(0, 0, 220, 80, svg.EMPTY, radius=6)]
        for s, name in enumerate(self._shown(table)):
            parts.append(svg.label(55 + 110 * s, 32, f"seat {s}", 12))
            parts.append(svg.label(55 + 110 * s, 56, name, 18, svg.SEAT_COLOURS[s]))
        return svg.document(220, 80, self.render_text(table), parts)

    def _shown(self, table: int) -> list[str]:
        return ["not yet" if choice < 0 else NAMES[choice] for choice in self._chosen[table]]
