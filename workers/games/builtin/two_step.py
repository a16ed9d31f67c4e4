"""The two-step matrix game of the QMIX paper (Rashid et al. 2018): a sum of values per mate cannot solve it."""

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from workers.games import svg
from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame

PAYOFFS = np.array([[[7.0, 7.0], [7.0, 7.0]], [[0.0, 1.0], [1.0, 8.0]]], np.float32)
"""[second step's game, action of seat 0, action of seat 1]: what the team earns."""
NAMES = ("A", "B")


class TwoStep(VectorGame):
    """Two mates choose A or B at once, twice; seat 0's first choice decides which of two payoff tables they play.

    One table pays 7 whatever they do, the other 8 if both choose B and 0 or 1 else. Each seat gets half, so that the
    team's return is the payoff. Both see which of the three positions they are in.
    """

    position_arrays = ("_position",)

    def __init__(self, *, tables: int) -> None:
        spec = GameSpec(
            id="two_step",
            seats=2,
            actions=2,
            observation_shape=(3,),
            simultaneous=True,
            max_steps=2,
            teams=(0, 0),
            action_names=NAMES,
            state=spaces.Box(0.0, 1.0, (3,), np.float32),
        )
        super().__init__(spec, tables)
        self._position = np.zeros(tables, np.int64)
        self._legal = np.ones((2 * tables, 2), np.bool_)
        self._never = np.zeros(tables, np.bool_)

    def begin(self, tables: NDArray[np.int64]) -> None:
        self._position[tables] = 0

    def turn(self) -> Turn:
        shown = self.global_state().repeat(2, axis=0)
        return Turn(np.repeat(np.arange(self.tables), 2), np.tile(np.arange(2), self.tables), shown, self._legal)

    def global_state(self) -> NDArray[np.float32]:
        return np.eye(3, dtype=np.float32)[self._position]

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        self.refuse_illegal(actions, self.turn())
        chosen = actions.reshape(-1, 2)
        done = self._position > 0
        paid = PAYOFFS[np.maximum(self._position - 1, 0), chosen[:, 0], chosen[:, 1]]
        rewards = np.where(done, paid / 2, np.float32(0))[:, None].repeat(2, axis=1)
        self._position = np.where(done, self._position, 1 + chosen[:, 0])
        return StepResult(rewards, done, self._never)

    def render_text(self, table: int, seat: int | None = None) -> str:
        position = int(self._position[table])
        if not position:
            return "first step: seat 0 chooses the payoffs"
        rows = [f"{name}  {line[0]:g} {line[1]:g}" for name, line in zip(NAMES, PAYOFFS[position - 1], strict=True)]
        return "\n".join(["   A B", *rows])

    def render_svg(self, table: int, seat: int | None = None) -> str:
        """Both payoff tables; the one that is played is bright once seat 0 has chosen it."""
        position = int(self._position[table])
        parts = [svg.rect(0, 0, 300, 170, svg.EMPTY, radius=8)]
        for game, payoffs in enumerate(PAYOFFS.tolist()):
            left, open_ = 40 + 135 * game, position in (0, game + 1)
            ink = svg.INK if open_ else "#9ca3af"
            parts.append(svg.label(left + 45, 22, f"after {NAMES[game]}", 13, ink))
            for row, name in enumerate(NAMES):
                parts.append(svg.label(left - 10, 76 + 50 * row, name, 14, ink))
                parts.append(svg.label(left + 24 + 46 * row, 42, name, 14, ink))
                for column, paid in enumerate(payoffs[row]):
                    fill = "#bfdbfe" if position == game + 1 else "#ffffff"
                    parts.append(svg.rect(left + 46 * column, 48 + 50 * row, 46, 50, fill))
                    parts.append(svg.label(left + 23 + 46 * column, 80 + 50 * row, f"{paid:g}", 18, ink))
        says = "seat 0 chooses the table" if not position else "rows: seat 0, columns: seat 1"
        parts.append(svg.label(150, 164, says, 12))
        return svg.document(300, 170, self.render_text(table), parts)
