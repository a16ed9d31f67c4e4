"""docs/evidence/search.md: how fast searches are, and how strong they make a player."""

from __future__ import annotations

from typing import Any

from benchmarks.evidence.markdown import NO_RUN, document, percent, table

Rows = dict[str, Any]
INTRODUCTION = """# Search, measured

This page is written from `benchmarks/results/` by `python -m benchmarks.evidence`; a test fails where it states
anything else. How each figure is counted is in [benchmarks](../benchmarks.md#search).
"""
SPEED = """## Searched moves a second

`python -m benchmarks.search`: moves of connect four in self-play a second of CPU time, by simulations a move. The
share is that of the network calls alone: 1 would be a search that costs nothing beside them. OpenSpiel's C++ MCTS has
no network and plays a random game a simulation; pgx with mctx searches in JAX on networks of the same shapes.
"""
STRENGTH = """## What it makes of a player

`python -m benchmarks.search_strength`: a main trained by self-play through a whole stack, then judged. Errors are the
share of fresh positions where the choice matters in which the newest version gives the game's value away, by an exact
solver; the bot's rows are games won, drawn and lost against it.
"""


def page(speed: Rows, strength: Rows) -> str:
    """The whole page."""
    speeds, strengths = speed_table(speed), [errors_table(strength), games_table(strength)]
    return document(INTRODUCTION, SPEED, speeds or NO_RUN, STRENGTH, *(strengths if any(strengths) else [NO_RUN]))


def speed_table(rows: Rows) -> str:
    """A line for each engine, network and number of cores; a column for each number of simulations."""
    simulations = sorted({row["simulations"] for row in rows.values()})
    by_case: dict[tuple[int, str, str], dict[int, Rows]] = {}
    for row in rows.values():
        by_case.setdefault((row["cores"], row["network"], row["engine"]), {})[row["simulations"]] = row
    lines = []
    for (cores, network, engine), found in sorted(by_case.items()):
        cells = [_rate(found.get(each)) for each in simulations]
        lines.append([engine, network, cores, *cells, _loads(list(found.values()))])
    return table(("engine", "network", "cores", *(f"{each} simulations" for each in simulations), "load"), lines)


def _rate(row: Rows | None) -> str:
    if row is None:
        return ""
    share = "" if row["share"] is None else f" (share {row['share']:.2f})"
    return f"{row['moves_per_second']:,.0f}{share}"


def _loads(rows: list[Rows]) -> str:
    loads = [row["load"] for row in rows]
    return f"{min(loads):.0f} to {max(loads):.0f}"


def errors_table(rows: Rows) -> str:
    """A line for each judged run."""
    lines = []
    for key, row in rows.items():
        if "errors" in row:
            ways = [percent(row["errors"][way]["error"]) for way in ("network", "search-64", "search-200")]
            lines.append([key, f"{row['steps']:,}", *ways, row.get("load", "")])
    return table(("run", "steps", "network alone", "64 simulations", "200 simulations", "load after it"), lines)


def games_table(rows: Rows) -> str:
    """A line for each run, bot and way to choose."""
    lines = []
    for key, row in rows.items():
        for bot, sides in row.items():
            if isinstance(sides, dict) and bot != "errors":
                for way, found in sides.items():
                    lines.append([key, bot, way, found["wins"], found["draws"], found["losses"]])
    return table(("run", "against", "chooses by", "won", "drawn", "lost"), lines)
