"""Soccer of two against two on a small grid, all tables in a few array operations.

The field has five rows and seven columns; a goal is the three middle rows behind an end. Squares are numbered row by
row. Team 0 plays to the right, team 1 to the left, and each seat sees the field turned so that it plays to the right.
"""

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from workers.games import svg
from workers.games.protocol import GameSpec, Snapshot, StepResult, Turn, VectorGame
from workers.games.seeding import below, mix

ROWS, COLUMNS = 5, 7
SQUARES = ROWS * COLUMNS
MAX_STEPS = 40
LONGEST_PASS = 3
NAMES = ("stay", "forward", "back", "left", "right", "pass")
FORWARD, PASS = NAMES.index("forward"), NAMES.index("pass")
TEAMS = (0, 0, 1, 1)
_TEAM = np.array(TEAMS)
_MATE = np.array([1, 0, 3, 2])
_STEPS = np.array([(0, 0), (0, 1), (0, -1), (-1, 0), (1, 0), (0, 0)])
"""Rows and columns that an action moves, for a seat that plays to the right."""
_START = np.array([1 * COLUMNS + 1, 2 * COLUMNS + 1, 3 * COLUMNS + 5, 2 * COLUMNS + 5])
"""Where the seats start: team 1's squares are team 0's, turned by half a circle."""
_ORDERS = np.array(list(permutations(range(4))))
_KICK_OFF, _ORDER = 21, 22  # separate these draws from other draws on the same seed
_GOAL = SQUARES


def _next_squares() -> NDArray[np.int64]:
    """[teams, actions, squares]: where an action leads, the same square at the edge, and _GOAL through a goal."""
    found = np.empty((2, len(NAMES), SQUARES), np.int64)
    for team, turned in enumerate((1, -1)):
        for action, (down, along) in enumerate(_STEPS.tolist()):
            for square in range(SQUARES):
                row, column = square // COLUMNS + turned * down, square % COLUMNS + turned * along
                inside = 0 <= row < ROWS and 0 <= column < COLUMNS
                goal = action == FORWARD and 0 < row < ROWS - 1
                found[team, action, square] = row * COLUMNS + column if inside else _GOAL if goal else square
    return found


_NEXT = _next_squares()
_ROW, _COLUMN = np.divmod(np.arange(SQUARES), COLUMNS)
_IN_REACH = np.maximum(np.abs(_ROW[:, None] - _ROW), np.abs(_COLUMN[:, None] - _COLUMN)) <= LONGEST_PASS
"""[squares, squares]: whether a pass reaches from one to the other."""
# The plane of an observation on which the viewing seat (row) sees each seat (column): itself, its mate, opponents.
_PLANE = np.array([[0 if v == s else 1 if TEAMS[v] == TEAMS[s] else 2 for s in range(4)] for v in range(4)])
_BALL_PLANE = 3


class Soccer(VectorGame):
    """Seats 0 and 1 against 2 and 3; the first goal wins, and 40 steps without one are a draw.

    All four choose at once; the seed draws the order in which they move, and the seat that has the ball first. Whoever
    moves into an opponent stays where it is, and the ball changes hands if one of the two has it. `pass` gives the ball
    to the mate, up to three squares away in each direction. The ball carrier scores by moving forward into the goal:
    each seat of its team gets 1/2, the others -1/2, so that a team's return is 1 or -1.
    """

    position_arrays = ("_squares", "_ball")

    def __init__(self, *, tables: int) -> None:
        spec = GameSpec(
            id="soccer",
            seats=4,
            actions=len(NAMES),
            observation_shape=(4, ROWS, COLUMNS),
            simultaneous=True,
            chance=True,
            max_steps=MAX_STEPS,
            teams=TEAMS,
            action_names=NAMES,
        )
        super().__init__(spec, tables)
        self._rows_of = np.arange(tables)
        self._squares = np.tile(_START, (tables, 1))
        self._ball = np.zeros(tables, np.int64)
        self._observations = np.zeros((tables, 4, 4, SQUARES), np.float32)
        self._flat = self._observations.reshape(-1)
        planes = np.concatenate([_PLANE, np.full((4, 1), _BALL_PLANE)], axis=1)
        viewers = np.arange(tables * 4).reshape(tables, 4, 1)
        self._offsets = (viewers * 4 + planes) * SQUARES
        """[tables, viewing seat, seats and ball]: where the plane on which each is seen begins in `_flat`."""
        self._marked = np.zeros_like(self._offsets)
        self._turn = Turn(
            np.repeat(np.arange(tables), 4),
            np.tile(np.arange(4), tables),
            self._observations.reshape(tables * 4, 4, ROWS, COLUMNS),
            np.ones((tables * 4, len(NAMES)), np.bool_),
        )
        self._stale = True
        self._rewards = np.zeros((tables, 4), np.float32)
        self._never = np.zeros(tables, np.bool_)

    def begin(self, tables: NDArray[np.int64]) -> None:
        self._squares[tables] = _START
        self._ball[tables] = kick_off(self.seeds_of(tables))
        self._stale = True

    def _put(self, tables: NDArray[np.int64], snapshot: Snapshot, seeds: NDArray[np.uint64] | None) -> None:
        super()._put(tables, snapshot, seeds)
        self._stale = True

    def turn(self) -> Turn:
        if self._stale:
            self._look()
            self._stale = False
        return self._turn

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        self.refuse_illegal(actions, self._turn)
        chosen = actions.reshape(self.tables, 4)
        order = _ORDERS[below(mix(self.game_seeds, self.plies, _ORDER), len(_ORDERS))]
        scored = np.full(self.tables, -1)
        for nth in range(4):
            self._move(order[:, nth], chosen, scored)
        self._stale = True
        goal = scored >= 0
        self._rewards[:] = np.where(goal[:, None], np.where(scored[:, None] == _TEAM, 0.5, -0.5), 0.0)
        return StepResult(self._rewards, goal | (self.plies + 1 >= MAX_STEPS), self._never)

    def _move(self, seat: NDArray[np.int64], chosen: NDArray[np.int64], scored: NDArray[np.int64]) -> None:
        """Move one seat of each table; tables that have scored stand still."""
        at = self._rows_of
        action, square, team = chosen[at, seat], self._squares[at, seat], _TEAM[seat]
        running, carries = scored < 0, self._ball == seat
        target = _NEXT[team, action, square]
        goal = running & carries & (target == _GOAL)
        scored[goal] = team[goal]
        target = np.where(running & (target != _GOAL), target, square)
        taken = self._squares == target[:, None]
        taken[at, seat] = False
        met = np.where(taken.any(axis=1), taken.argmax(axis=1), -1)
        self._squares[at, seat] = np.where(met < 0, target, square)
        tackled = (met >= 0) & (_TEAM[met] != team)
        holder = np.where(tackled & carries, met, np.where(tackled & (self._ball == met), seat, self._ball))
        passes = running & carries & (action == PASS) & _IN_REACH[square, self._squares[at, _MATE[seat]]]
        self._ball[:] = np.where(passes, _MATE[seat], holder)

    def _look(self) -> None:
        """Write what each seat sees, on the field turned so that it plays to the right."""
        self._flat[self._marked] = 0.0
        seen = np.concatenate([self._squares, self._squares[self._rows_of, self._ball][:, None]], axis=1)
        self._marked[:, :2] = self._offsets[:, :2] + seen[:, None]
        self._marked[:, 2:] = self._offsets[:, 2:] + (SQUARES - 1 - seen)[:, None]
        self._flat[self._marked] = 1.0

    def render_text(self, table: int, seat: int | None = None) -> str:
        """The field with the seats' numbers, the ball's carrier in brackets, and the goals as `|`."""
        shown = [" . "] * SQUARES
        for number, square in enumerate(self._squares[table].tolist()):
            shown[square] = f"({number})" if number == self._ball[table] else f" {number} "
        rows = ["".join(shown[row * COLUMNS : (row + 1) * COLUMNS]) for row in range(ROWS)]
        ends = ["|" if 0 < row < ROWS - 1 else " " for row in range(ROWS)]
        return "\n".join(f"{end}{row}{end}" for end, row in zip(ends, rows, strict=True))

    def render_svg(self, table: int, seat: int | None = None) -> str:
        size, margin = 40, 14
        width, height = COLUMNS * size + 2 * margin, ROWS * size
        parts = [svg.rect(margin, 0, COLUMNS * size, height, "#4d7c0f")]
        for left in (0, width - margin):
            parts.append(svg.rect(left, size, margin, 3 * size, svg.SEAT_COLOURS[int(left > 0)]))
        parts += [svg.line(margin + c * size, 0, margin + c * size, height, "#65a30d", 1) for c in range(1, COLUMNS)]
        parts += [svg.line(margin, r * size, width - margin, r * size, "#65a30d", 1) for r in range(1, ROWS)]
        for number, square in enumerate(self._squares[table].tolist()):
            x, y = margin + square % COLUMNS * size + size / 2, square // COLUMNS * size + size / 2
            parts.append(svg.circle(x, y, 14, svg.SEAT_COLOURS[TEAMS[number]]))
            parts.append(svg.label(x, y + 5, str(number), 14))
            if number == self._ball[table]:
                parts.append(svg.circle(x + 11, y - 11, 6, "#ffffff"))
        return svg.document(width, height, self.render_text(table), parts)


def kick_off(seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The seat that has the ball first in the games of these seeds."""
    return below(mix(seeds, _KICK_OFF), 4)
