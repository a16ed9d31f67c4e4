"""Slime volleyball, the rules and the float64 arithmetic of the package `slimevolleygym`, all tables at once.

Lengths are metres of a court of 48 by 48, x from the fence, y from below the ground. Seat 0 is the slime on the left,
seat 1 the one on the right; each sees the court as if it stood on the right. `benchmarks.slime_volley --equal` plays
episodes beside the package and compares them number by number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workers.games.builtin.slime_volley_picture import slime_svg, slime_text
from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame
from workers.games.seeding import mix, uniform

NAMES = ("stay", "forward", "forward_jump", "jump", "back_jump", "back")
"""In the order of the package's six actions. Its three buttons have no seventh effect: forward and back cancel out."""
MAX_STEPS, LIVES = 3000, 5
HALF, CEILING, GROUND = 24.0, 48.0, 1.5
FENCE_HALF, FENCE_TOP = 0.5, 3.5
SLIME, BALL = 1.5, 0.5
"""Radii. The fence ends in half a disc of radius FENCE_HALF, at FENCE_TOP."""

_TICK, _GRAVITY, _NUDGE = 1 / 30.0, -9.8 * 2 * 1.5, 0.1
_RUN, _JUMP, _FASTEST = 10 * 1.75, 10 * 1.35, 15 * 1.5
_HELD = 30
"""Steps for which the ball hangs in the air before each point."""
_SIDE = np.array([-1.0, 1.0])
_SPEED_X = np.array([0.0, -_RUN, -_RUN, 0.0, _RUN, _RUN])
"""By action, for the slime on the right, which runs forward to the left."""
_SPEED_Y = np.array([0.0, 0.0, _JUMP, _JUMP, _JUMP, 0.0])
_SERVE_X, _SERVE_Y = 31, 32  # separate these draws from other draws on the same seed
_SCALE = 10.0

Floats = NDArray[np.float64]


def serve(seeds: NDArray[np.uint64], point: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The ball's velocity at the start of each game's point number `point`, counted from 0."""
    across, up = uniform(mix(seeds, point, _SERVE_X)), uniform(mix(seeds, point, _SERVE_Y))
    return -20.0 + 40.0 * across, 10.0 + 15.0 * up


class SlimeVolley(VectorGame):
    """Whoever lets the ball touch the ground on its own side loses a life; five lives or 3,000 steps end the game.

    A point is 1 for the one and -1 for the other. As in the package, a seat sees nothing new in the step of a point,
    and neither the lives, nor the clock, nor how long the ball will hang: a game that the clock ends is truncated.
    """

    position_arrays = (
        *("_x", "_y", "_vx", "_vy", "_ball_x", "_ball_y", "_ball_vx", "_ball_vy", "_ball_from"),
        *("_held", "_lives", "_seen"),
    )

    def __init__(self, *, tables: int) -> None:
        spec = GameSpec(
            id="slime_volley",
            seats=2,
            actions=len(NAMES),
            observation_shape=(12,),
            simultaneous=True,
            chance=True,
            max_steps=MAX_STEPS,
            action_names=NAMES,
        )
        super().__init__(spec, tables)
        self._x, self._y = np.zeros((tables, 2)), np.zeros((tables, 2))
        self._vx, self._vy = np.zeros((tables, 2)), np.zeros((tables, 2))
        self._ball_x, self._ball_y = np.zeros(tables), np.zeros(tables)
        self._ball_vx, self._ball_vy = np.zeros(tables), np.zeros(tables)
        self._ball_from = np.zeros(tables)
        """x before the ball's last move: it meets the fence only in passing its side."""
        self._held = np.zeros(tables, np.int64)
        self._lives = np.full((tables, 2), LIVES)
        self._seen = np.zeros((tables, 2, 12), np.float32)
        self._turn = Turn(
            np.repeat(np.arange(tables), 2),
            np.tile(np.arange(2), tables),
            self._seen.reshape(tables * 2, 12),
            np.ones((tables * 2, len(NAMES)), np.bool_),
        )
        self._rewards = np.zeros((tables, 2), np.float32)

    def begin(self, tables: NDArray[np.int64]) -> None:
        self._x[tables] = _SIDE * (HALF / 2)
        self._y[tables] = GROUND
        self._vx[tables] = self._vy[tables] = 0.0
        self._lives[tables] = LIVES
        self._serve(tables)
        self._look(tables)

    def turn(self) -> Turn:
        return self._turn

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        self.refuse_illegal(actions, self._turn)
        chosen = actions.reshape(self.tables, 2)
        self._move_slimes(_SPEED_X[chosen] * _SIDE, _SPEED_Y[chosen])
        self._move_ball()
        for seat in range(2):
            self._bounce(self._x[:, seat], self._y[:, seat], SLIME, self._vx[:, seat], self._vy[:, seat])
        still = np.zeros(self.tables)
        self._bounce(still, still + FENCE_TOP, FENCE_HALF, still, still)
        loser = self._meet_walls()
        scored = loser >= 0
        self._rewards[:] = 0.0
        if scored.any():
            tables = np.flatnonzero(scored)
            self._rewards[tables, loser[tables]] = -1.0
            self._rewards[tables, 1 - loser[tables]] = 1.0
            self._lives[tables, loser[tables]] -= 1
            self._serve(tables)
            self._look(np.flatnonzero(~scored))
        else:
            self._look(slice(None))
        over = self._lives.min(axis=1) <= 0
        late = (self.plies + 1 >= MAX_STEPS) & ~over
        return StepResult(self._rewards, over | late, late)

    def _serve(self, tables: NDArray[np.int64]) -> None:
        """Put a new ball above the fence; it hangs there for a second."""
        points = 2 * LIVES - self._lives[tables].sum(axis=1)
        self._ball_vx[tables], self._ball_vy[tables] = serve(self.seeds_of(tables), points)
        self._ball_x[tables] = self._ball_from[tables] = 0.0
        self._ball_y[tables] = HALF / 2
        self._held[tables] = _HELD

    def _move_slimes(self, speed_x: Floats, speed_y: Floats) -> None:
        """Both slimes of every table: they jump from the ground alone and stay in their halves."""
        x, y, vx, vy = self._x, self._y, self._vx, self._vy
        vy += _GRAVITY * _TICK
        np.copyto(vy, speed_y, where=y <= GROUND + _NUDGE * _TICK)
        vx[:] = speed_x
        x += vx * _TICK
        y += vy * _TICK
        landed = y <= GROUND
        y[landed], vy[landed] = GROUND, 0.0
        nearest, farthest = FENCE_HALF + SLIME, HALF - SLIME
        away = x * _SIDE
        held = (away <= nearest) | (away >= farthest)
        vx[held] = 0.0
        np.clip(away, nearest, farthest, out=away)
        x[:] = away * _SIDE

    def _move_ball(self) -> None:
        """The balls that do not hang any more: gravity, the highest speed, one step along."""
        flying = self._held == 0
        self._held[~flying] -= 1
        vx, vy = self._ball_vx, self._ball_vy
        vy += np.where(flying, _GRAVITY * _TICK, 0.0)
        square = vx * vx + vy * vy
        fast = np.flatnonzero(flying & (square > _FASTEST * _FASTEST))
        if len(fast):
            speed = np.sqrt(square[fast])
            vx[fast] = vx[fast] / speed * _FASTEST
            vy[fast] = vy[fast] / speed * _FASTEST
        np.copyto(self._ball_from, self._ball_x, where=flying)
        self._ball_x += np.where(flying, vx * _TICK, 0.0)
        self._ball_y += np.where(flying, vy * _TICK, 0.0)

    def _bounce(self, x: Floats, y: Floats, radius: float, vx: Floats, vy: Floats) -> None:
        """Push balls out of the discs that they touch, one disc a table, and mirror their relative velocity."""
        reach = (BALL + radius) * (BALL + radius)
        hit = np.flatnonzero(reach > _square(x - self._ball_x, y - self._ball_y))
        if not len(hit):
            return
        x, y, vx, vy = x[hit], y[hit], vx[hit], vy[hit]
        ball_x, ball_y = self._ball_x[hit], self._ball_y[hit]
        normal_x, normal_y = ball_x - x, ball_y - y
        length = np.sqrt(_square(normal_x, normal_y))
        normal_x /= length
        normal_y /= length
        inside = np.ones(len(hit), np.bool_)
        while inside.any():
            ball_x[inside] += (normal_x * _NUDGE)[inside]
            ball_y[inside] += (normal_y * _NUDGE)[inside]
            inside = reach > _square(x - ball_x, y - ball_y)
        relative_x, relative_y = self._ball_vx[hit] - vx, self._ball_vy[hit] - vy
        twice = (relative_x * normal_x + relative_y * normal_y) * 2.0
        self._ball_x[hit], self._ball_y[hit] = ball_x, ball_y
        self._ball_vx[hit] = relative_x - normal_x * twice + vx
        self._ball_vy[hit] = relative_y - normal_y * twice + vy

    def _meet_walls(self) -> NDArray[np.int64]:
        """Balls at the walls, the ceiling and the fence; the seat whose ground the ball touches, else -1."""
        x, y, vx, vy = self._ball_x, self._ball_y, self._ball_vx, self._ball_vy
        nudge = _NUDGE * _TICK
        wall = np.flatnonzero(np.abs(x) >= HALF - BALL)
        vx[wall] *= -1.0
        x[wall] = np.sign(x[wall]) * (HALF - BALL - nudge)
        loser = np.where(y <= BALL + GROUND, np.where(x <= 0.0, 0, 1), -1)
        top = np.flatnonzero(y >= CEILING - BALL)
        vy[top] *= -1.0
        y[top] = CEILING - BALL - nudge
        low = y <= FENCE_TOP
        if low.any():
            edge = FENCE_HALF + BALL
            side = np.sign(self._ball_from)
            met = np.flatnonzero(low & (np.abs(self._ball_from) > edge) & (x * side <= edge))
            vx[met] *= -1.0
            x[met] = side[met] * (edge + nudge)
        return loser

    def _look(self, tables: NDArray[np.int64] | slice) -> None:
        """Write what both seats of these tables see: itself, the ball, the other; positions before velocities."""
        slimes = np.stack([self._x * _SIDE, self._y, self._vx * _SIDE, self._vy], axis=2)[tables]
        ball = np.stack([self._ball_x, self._ball_y, self._ball_vx, self._ball_vy], axis=1)[tables]
        seen = np.empty((len(slimes), 2, 12))
        seen[:, :, :4] = slimes
        seen[:, 0, 4:8] = ball * (-1.0, 1.0, -1.0, 1.0)
        seen[:, 1, 4:8] = ball
        seen[:, :, 8:] = slimes[:, ::-1]
        self._seen[tables] = seen / _SCALE

    def render_text(self, table: int, seat: int | None = None) -> str:
        return slime_text(self._x[table], self._y[table], self._ball(table), self._lives[table])

    def render_svg(self, table: int, seat: int | None = None) -> str:
        return slime_svg(self._x[table], self._y[table], self._ball(table), self._lives[table])

    def _ball(self, table: int) -> tuple[float, float]:
        return float(self._ball_x[table]), float(self._ball_y[table])


def _square(x: Floats, y: Floats) -> Floats:
    return x * x + y * y
