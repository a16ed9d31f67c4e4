"""Curves of NashConv over steps as one SVG: a panel for each game, a colour for each preset."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from benchmarks.nash_conv.pools import Point

COLOURS = {
    "self_play": "#c2410c",
    "fictitious": "#a16207",
    "pfsp": "#2563eb",
    "alphastar": "#7c3aed",
    "openai_five": "#0e7490",
    "psro": "#15803d",
    "mmd": "#be185d",
    "anchored": "#4d7c0f",
    "openspiel-cfr": "#111827",
    "openspiel-nfsp": "#64748b",
    "openspiel-psro": "#0f766e",
}
WIDTH, HEIGHT, LEFT, TOP, GAP = 400, 260, 62, 56, 70
LEGEND = 230
"""Width of one entry of the legend."""
LOWEST, HIGHEST = 0.005, 4.0
"""Ends of the logarithmic axis; values outside are drawn at the nearer end."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One trial, from its first snapshot to its last."""

    preset: str
    seed: int
    points: Sequence[Point]

    def to_json(self) -> dict[str, Any]:
        """As plain values: a point is its steps, the last version's NashConv, the mixture's, and its seconds."""
        points = [[each.steps, round(each.last, 4), round(each.mixture, 4), each.seconds] for each in self.points]
        return {"preset": self.preset, "seed": self.seed, "points": points}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Curve:
        """What `to_json` wrote."""
        points = [
            Point(steps=steps, last=last, mixture=mixture, seconds=seconds)
            for steps, last, mixture, seconds in values["points"]
        ]
        return cls(preset=values["preset"], seed=values["seed"], points=points)


def draw(curves: Mapping[str, Sequence[Curve]], goals: Mapping[str, float]) -> str:
    """The whole picture. Lines are means over the seeds, bands reach from the least to the greatest."""
    presets = list(dict.fromkeys(each.preset for found in curves.values() for each in found))
    width = LEFT + len(curves) * (WIDTH + GAP)
    rows = -(-len(presets) // max(1, (width - LEFT) // LEGEND))
    height = TOP + HEIGHT + 46 + 46 * rows
    parts = [f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for number, (game, found) in enumerate(curves.items()):
        parts += _panel(LEFT + number * (WIDTH + GAP), game, found, goals[game])
    parts += _legend(TOP + HEIGHT + 62, presets, width)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="system-ui, sans-serif" font-size="12" fill="#1f2937" role="img" '
            'aria-label="NashConv over training steps by preset, lower is better">',
            *parts,
            "</svg>\n",
        ]
    )


def _panel(left: int, game: str, curves: Sequence[Curve], goal: float) -> list[str]:
    timed = all(curve.points[-1].seconds > 0 for curve in curves)
    most = max(_x(point, timed=timed) for curve in curves for point in curve.points)
    title = escape(game.replace("_", " "))
    parts = [_text(left, TOP - 30, title, size=15, weight=600), _text(left, TOP - 12, "NashConv, lower is better")]
    for value in (0.01, 0.03, 0.1, 0.3, 1, 3):
        parts += [
            _line(left, _y(value), left + WIDTH, _y(value), "#e5e7eb"),
            _text(left - 8, _y(value) + 4, f"{value:g}", "end"),
        ]
    parts.append(_line(left, _y(goal), left + WIDTH, _y(goal), "#6b7280", dash="2 4"))
    for share in (0, 0.25, 0.5, 0.75, 1):
        words = f"{share * most / 60:.3g}" if timed else f"{share * most / 1000:,.0f}k"
        parts.append(_text(left + share * WIDTH, TOP + HEIGHT + 18, words, "middle"))
    words = "minutes of training" if timed else "environment steps"
    parts.append(_text(left + WIDTH / 2, TOP + HEIGHT + 38, words, "middle"))
    for preset in dict.fromkeys(curve.preset for curve in curves):
        parts += _preset(left, most, [curve for curve in curves if curve.preset == preset], timed=timed)
    return parts


def _x(point: Point, *, timed: bool) -> float:
    return point.seconds if timed else point.steps


def _rows(curves: Sequence[Curve], *, timed: bool) -> list[tuple[float, list[Point]]]:
    """Places with the points of all seeds there: the last point of each up to the place.

    Seeds that were trained for a time have their points at different places.
    """
    first = max(_x(curve.points[0], timed=timed) for curve in curves)
    places = sorted({_x(point, timed=timed) for curve in curves for point in curve.points})
    return [
        (place, [[point for point in curve.points if _x(point, timed=timed) <= place][-1] for curve in curves])
        for place in places
        if place >= first
    ]


def _preset(left: int, most: float, curves: Sequence[Curve], *, timed: bool) -> list[str]:
    colour = COLOURS.get(curves[0].preset, "#6b7280")
    found = _rows(curves, timed=timed)
    rows, places = [row for _, row in found], [left + WIDTH * place / most for place, _ in found]
    mixtures = [[point.mixture for point in row] for row in rows]
    lasts = [statistics.mean(point.last for point in row) for row in rows]
    edge = [*zip(places, (max(row) for row in mixtures), strict=True)]
    edge += reversed([*zip(places, (min(row) for row in mixtures), strict=True)])
    band = " ".join(f"{x:.1f},{_y(value):.1f}" for x, value in edge)
    return [
        f'<polygon points="{band}" fill="{colour}" opacity="0.12"/>',
        _path(places, lasts, colour, dash="5 4", width=1.3),
        _path(places, [statistics.mean(row) for row in mixtures], colour, width=2.4),
    ]


def _legend(top: float, presets: Sequence[str], width: float) -> list[str]:
    """What the lines mean, in as many rows as they need; a reference has one line."""
    parts, x = [], float(LEFT)
    for preset in presets:
        colour, reference = COLOURS.get(preset, "#6b7280"), preset.startswith("openspiel")
        lines = [(preset, "", 2.4)] if reference else [(f"{preset}: the pool's mixture", "", 2.4)]
        lines += [] if reference else [(f"{preset}: last version", "5 4", 1.3)]
        for row, (words, dash, stroke) in enumerate(lines):
            y = top + 20 * row
            parts += [_line(x, y, x + 26, y, colour, dash=dash, width=stroke), _text(x + 32, y + 4, words)]
        x += LEGEND
        if x + LEGEND > width:
            top, x = top + 46, float(LEFT)
    return parts


def _y(value: float) -> float:
    share = math.log(min(max(value, LOWEST), HIGHEST) / LOWEST) / math.log(HIGHEST / LOWEST)
    return TOP + HEIGHT * (1 - share)


def _path(places: Sequence[float], values: Sequence[float], colour: str, *, dash: str = "", width: float) -> str:
    points = " ".join(f"{x:.1f},{_y(value):.1f}" for x, value in zip(places, values, strict=True))
    return f'<polyline points="{points}" fill="none" {_stroke(colour, dash, width)} stroke-linejoin="round"/>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, *, dash: str = "", width: float = 1.0) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {_stroke(colour, dash, width)}/>'


def _stroke(colour: str, dash: str, width: float) -> str:
    return f'stroke="{colour}" stroke-width="{width}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _text(x: float, y: float, words: str, anchor: str = "start", *, size: int = 12, weight: int = 400) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}">{words}</text>'
    )
