"""Learning curves: as a line of text, and with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from lanista.training.generation import Generation

BLOCKS = "▁▂▃▄▅▆▇█"
MOST_POINTS = 60

Curve = list[tuple[int, float]]
"""Steps and value of each point."""


def curves_of(generations: Sequence[Generation], metric: str = "score") -> dict[str, Curve]:
    """The points of each player, over its own steps; generations without a value are left out."""
    found: dict[str, Curve] = {}
    for generation in generations:
        value = generation.as_row().get(metric)
        if isinstance(value, int | float):
            found.setdefault(generation.player, []).append((generation.player_steps, float(value)))
    return found


def sparkline(values: Sequence[float], low: float | None = None, high: float | None = None) -> str:
    """The values as one line of blocks; some of them, evenly spread from the first to the newest, where there are too
    many.
    """
    shown = list(values)
    if not shown:
        return ""
    if len(shown) > MOST_POINTS:
        shown = [shown[point * (len(shown) - 1) // (MOST_POINTS - 1)] for point in range(MOST_POINTS)]
    least, most = min(shown) if low is None else low, max(shown) if high is None else high
    span = most - least
    if span <= 0:
        return BLOCKS[0] * len(shown)
    places = (int((value - least) / span * (len(BLOCKS) - 1) + 0.5) for value in shown)
    return "".join(BLOCKS[min(max(place, 0), len(BLOCKS) - 1)] for place in places)


def curves_text(generations: Sequence[Generation], metric: str = "score") -> str:
    """One line for each player: its first value, its curve, its newest value."""
    curves = curves_of(generations, metric)
    width = max(map(len, curves), default=0)
    lines = []
    for player, curve in curves.items():
        values = [value for _, value in curve]
        lines.append(f"{player:<{width}}  {values[0]:.3f} {sparkline(values)} {values[-1]:.3f}")
    return "\n".join(lines)


def plot_curves(generations: Sequence[Generation], metric: str = "score") -> Any:
    """Axes of matplotlib with one line for each player; the text where matplotlib is not installed."""
    curves = curves_of(generations, metric)
    if not curves:
        known = sorted({column for each in generations for column in each.as_row()})
        raise ValueError(
            f"no generation has a number {metric!r}; allowed: {', '.join(known) or 'none before training'}"
        )
    if find_spec("matplotlib") is None:
        return curves_text(generations, metric)
    from matplotlib import pyplot

    _, axes = pyplot.subplots()
    for player, curve in curves.items():
        axes.plot([steps for steps, _ in curve], [value for _, value in curve], marker="o", label=player)
    axes.set_xlabel("steps of the player")
    axes.set_ylabel(metric.replace("_", " "))
    axes.legend()
    return axes
