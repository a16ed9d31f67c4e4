"""Curves of NashConv over steps as one SVG: a panel for each game, a colour for each preset."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from benchmarks.nash_conv.pools import Point

COLOURS = {"self_play": "#c2410c", "pfsp": "#2563eb", "psro": "#15803d"}
WIDTH, HEIGHT, LEFT, TOP, GAP = 400, 260, 62, 56, 70
LOWEST, HIGHEST = 0.005, 4.0
"""Ends of the logarithmic axis; values outside are drawn at the nearer end."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One trial, from its first snapshot to its last."""

    preset: str
    seed: int
    points: Sequence[Point]

    def to_json(self) -> dict[str, Any]:
        """As plain values: a point is its steps, the last version's NashConv and the mixture's."""
        points = [[point.steps, round(point.last, 4), round(point.mixture, 4)] for point in self.points]
        return {"preset": self.preset, "seed": self.seed, "points": points}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Curve:
        """What `to_json` wrote."""
        points = [Point(steps=steps, last=last, mixture=mixture) for steps, last, mixture in values["points"]]
        return cls(preset=values["preset"], seed=values["seed"], points=points)


def draw(curves: Mapping[str, Sequence[Curve]], goal: float) -> str:
    """The whole picture. Lines are means over the seeds, bands reach from the least to the greatest."""
    width, height = LEFT + len(curves) * (WIDTH + GAP), TOP + HEIGHT + 92
    parts = [f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for number, (game, found) in enumerate(curves.items()):
        parts += _panel(LEFT + number * (WIDTH + GAP), game, found, goal)
    parts += _legend(TOP + HEIGHT + 62, list(dict.fromkeys(each.preset for found in curves.values() for each in found)))
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
    most = max(point.steps for curve in curves for point in curve.points)
    title = escape(game.replace("_", " "))
    parts = [_text(left, TOP - 30, title, size=15, weight=600), _text(left, TOP - 12, "NashConv, lower is better")]
    for value in (0.01, 0.03, 0.1, 0.3, 1, 3):
        parts += [
            _line(left, _y(value), left + WIDTH, _y(value), "#e5e7eb"),
            _text(left - 8, _y(value) + 4, f"{value:g}", "end"),
        ]
    parts.append(_line(left, _y(goal), left + WIDTH, _y(goal), "#6b7280", dash="2 4"))
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(_text(left + share * WIDTH, TOP + HEIGHT + 18, f"{share * most / 1000:,.0f}k", "middle"))
    parts.append(_text(left + WIDTH / 2, TOP + HEIGHT + 38, "environment steps", "middle"))
    for preset in dict.fromkeys(curve.preset for curve in curves):
        parts += _preset(left, most, preset, [curve for curve in curves if curve.preset == preset])
    return parts


def _preset(left: int, most: int, preset: str, curves: Sequence[Curve]) -> list[str]:
    colour = COLOURS.get(preset, "#6b7280")
    rows = list(zip(*(curve.points for curve in curves), strict=True))
    places = [left + WIDTH * row[0].steps / most for row in rows]
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


def _legend(top: float, presets: Sequence[str]) -> list[str]:
    parts, x = [], float(LEFT)
    for preset in presets:
        colour = COLOURS.get(preset, "#6b7280")
        for words, dash, width in ((f"{preset}: the pool's mixture", "", 2.4), (f"{preset}: last version", "5 4", 1.3)):
            parts += [_line(x, top, x + 26, top, colour, dash=dash, width=width), _text(x + 32, top + 4, words)]
            top += 20
        top, x = top - 40, x + 230
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
