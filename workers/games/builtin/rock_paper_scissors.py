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
        """Both hands side by side, the winner's in a frame; hidden until both have chosen."""
        parts = [svg.rect(0, 0, 300, 160, svg.EMPTY, radius=8)]
        first, second = self._chosen[table].tolist()
        ahead = (first - second) % 3 if first >= 0 else 0
        for s, (name, choice) in enumerate(zip(self._shown(table), (first, second), strict=True)):
            x = 75 + 150 * s
            if ahead == s + 1:
                parts.append(svg.rect(x - 60, 30, 120, 92, "#dcfce7", radius=8))
            parts.append(svg.label(x, 22, f"seat {s}{' (you)' if seat == s else ''}", 14, svg.INK))
            parts.append(_hand(choice, x, 76, svg.SEAT_COLOURS[s]))
            parts.append(svg.label(x, 144, f"{name}{' wins' if ahead == s + 1 else ''}", 16))
        return svg.document(300, 160, self.render_text(table), parts)

    def _shown(self, table: int) -> list[str]:
        return ["not yet" if choice < 0 else NAMES[choice] for choice in self._chosen[table]]


def _hand(choice: int, x: float, y: float, colour: str) -> str:
    """A stone, a sheet or a pair of scissors; a question mark before the choice."""
    if choice < 0:
        return svg.label(x, y + 14, "?", 40, colour)
    if NAMES[choice] == "rock":
        return svg.circle(x, y, 32, "#6b7280") + svg.circle(x - 9, y - 10, 9, "#9ca3af")
    if NAMES[choice] == "paper":
        rows = [svg.line(x - 18, y - 20 + 13 * row, x + 18, y - 20 + 13 * row, "#9ca3af", 2) for row in range(4)]
        return svg.rect(x - 27, y - 36, 54, 72, "#ffffff", radius=3) + "".join(rows)
    blades = svg.line(x - 16, y - 34, x + 12, y + 16, svg.INK, 5) + svg.line(x + 16, y - 34, x - 12, y + 16, svg.INK, 5)
    rings = [
        f'<circle cx="{x + side:g}" cy="{y + 25:g}" r="10" fill="none" stroke="{colour}" stroke-width="5"/>'
        for side in (-17, 17)
    ]
    return blades + "".join(rings)
