"""A position of slime volleyball as a sentence and as a picture of the court's lower half."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workers.games import svg

_WIDTH, _HEIGHT, _SCALE = 480.0, 240.0, 10.0
"""The picture, and its units to a metre. What flies higher is marked at the upper edge."""
_GROUND, _FENCE_TOP, _FENCE_HALF, _SLIME, _BALL = 1.5, 3.5, 0.5, 1.5, 0.5
_SKY, _EARTH, _FENCE = "#e0f2fe", "#86a873", "#92765a"
_BALL_COLOUR, _WHITE = "#111827", "#ffffff"


def slime_text(xs: Sequence[float], ys: Sequence[float], ball: tuple[float, float], lives: Sequence[int]) -> str:
    """Where the ball and the slimes are, in metres, and the lives left."""
    side = "left" if ball[0] <= 0 else "right"
    lines = [f"ball {abs(ball[0]):.1f} m {side} of the fence, {ball[1] - _GROUND:.1f} m above the ground"]
    for name, x, y, left in zip(("left", "right"), xs, ys, lives, strict=True):
        lines.append(f"{name} slime {abs(x):.1f} m from the fence, {y - _GROUND:.1f} m up, lives: {left}")
    return "\n".join(lines)


def slime_svg(xs: Sequence[float], ys: Sequence[float], ball: tuple[float, float], lives: Sequence[int]) -> str:
    """The court from the side, with a dot for each life."""
    ground = _y(_GROUND)
    parts = [
        svg.rect(0, 0, _WIDTH, _HEIGHT, _SKY),
        svg.rect(_x(-_FENCE_HALF), _y(_FENCE_TOP), 2 * _FENCE_HALF * _SCALE, ground - _y(_FENCE_TOP), _FENCE),
        svg.circle(_x(0), _y(_FENCE_TOP), _FENCE_HALF * _SCALE, _FENCE),
        svg.rect(0, ground, _WIDTH, _HEIGHT - ground, _EARTH),
    ]
    for seat, (x, y, left) in enumerate(zip(xs, ys, lives, strict=True)):
        parts += _slime(x, y, ball, svg.SEAT_COLOURS[seat], turned=1 if seat == 0 else -1)
        edge, inwards = (12.0, 1) if seat == 0 else (_WIDTH - 12.0, -1)
        parts += [svg.circle(edge + inwards * 14 * life, 14, 4, svg.SEAT_COLOURS[seat]) for life in range(int(left))]
    parts.append(_ball(*ball))
    return svg.document(_WIDTH, _HEIGHT, slime_text(xs, ys, ball, lives), parts)


def _x(metres: float) -> float:
    return round(_WIDTH / 2 + metres * _SCALE, 1)


def _y(metres: float) -> float:
    return round(_HEIGHT - metres * _SCALE, 1)


def _ball(x: float, y: float) -> str:
    """The ball; a triangle at the upper edge where it flies above the picture."""
    if _y(y) > -_BALL * _SCALE:
        return svg.circle(_x(x), _y(y), _BALL * _SCALE, _BALL_COLOUR)
    left, right = _x(x) - 5, _x(x) + 5
    return f'<path d="M {left:g} 8 L {right:g} 8 L {_x(x):g} 1 Z" fill="{_BALL_COLOUR}"/>'


def _slime(x: float, y: float, ball: tuple[float, float], colour: str, *, turned: int) -> list[str]:
    """Half a disc with an eye that follows the ball."""
    left, right, base, radius = _x(x - _SLIME), _x(x + _SLIME), _y(y), _SLIME * _SCALE
    eye_x, eye_y = x + turned * 0.5 * _SLIME, y + 0.5 * _SLIME
    far = math.hypot(ball[0] - eye_x, ball[1] - eye_y) or 1.0
    pupil_x, pupil_y = eye_x + 0.15 * (ball[0] - eye_x) / far, eye_y + 0.15 * (ball[1] - eye_y) / far
    return [
        f'<path d="M {left:g} {base:g} A {radius:g} {radius:g} 0 0 1 {right:g} {base:g} Z" fill="{colour}"/>',
        svg.circle(_x(eye_x), _y(eye_y), 4, _WHITE),
        svg.circle(_x(pupil_x), _y(pupil_y), 1.8, _BALL_COLOUR),
    ]
