"""The schedule of a population as an SVG: the learning rate of each member over its steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 200, 62, 34, 24


def draw_schedule(rows: Sequence[dict[str, Any]], file: Path) -> None:
    """One panel for each seed; a copy is a ring at the first generation with the new weights."""
    shown = sorted(rows, key=lambda row: int(row["seed"]))
    if not shown:
        return
    width = LEFT + len(shown) * (WIDTH + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + HEIGHT + 44}" width="{width}" '
        'font-family="sans-serif" font-size="11" role="img" '
        'aria-label="learning rates of the members of a population over their steps">',
        f'<rect width="{width}" height="{TOP + HEIGHT + 44}" fill="white"/>',
    ]
    for place, row in enumerate(shown):
        parts += _panel(row["generations"], LEFT + place * (WIDTH + GAP), f"seed {row['seed']}", labelled=place == 0)
    file.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


def _panel(generations: Sequence[dict[str, Any]], left: int, title: str, *, labelled: bool) -> list[str]:
    most = max(each["player_steps"] for each in generations)
    low, high = -5.5, -1.5
    bottom = TOP + HEIGHT

    def at(steps: float, rate: float) -> tuple[float, float]:
        return left + WIDTH * steps / most, bottom - HEIGHT * (math.log10(rate) - low) / (high - low)

    parts = [f'<text x="{left + WIDTH / 2:g}" y="{TOP - 12}" text-anchor="middle">{title}</text>']
    for decade in range(-5, -1):
        y = at(0, 10.0**decade)[1]
        parts.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        if labelled:
            parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">1e{decade}</text>')
    parts.append(f'<text x="{left}" y="{bottom + 16}">0</text>')
    parts.append(f'<text x="{left + WIDTH}" y="{bottom + 16}" text-anchor="end">{most:,} steps</text>')
    if labelled:
        middle = TOP + HEIGHT / 2
        turned = f'transform="rotate(-90 14 {middle:g})"'
        parts.append(f'<text x="14" y="{middle:g}" text-anchor="middle" {turned}>learning rate</text>')
    for order, player in enumerate(sorted({each["player"] for each in generations})):
        own = [each for each in generations if each["player"] == player]
        parts += _line(own, at, COLOURS[order % len(COLOURS)])
    return parts


def _line(own: Sequence[dict[str, Any]], at: Any, colour: str) -> list[str]:
    points, rings, before = [], [], 0.0
    for number, each in enumerate(own):
        x, y = at(before, each["learning_rate"])
        end, _ = at(each["player_steps"], each["learning_rate"])
        points += [f"{x:.1f},{y:.1f}", f"{end:.1f},{y:.1f}"]
        if number and own[number - 1]["copied"]:
            rings.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="white" stroke="{colour}"/>')
        before = each["player_steps"]
    return [f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="1.6"/>', *rings]
