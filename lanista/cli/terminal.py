"""Consoles of the command line: results go to stdout, messages to stderr."""

from __future__ import annotations

import json
import os
from typing import Any

from rich.console import Console
from rich.table import Table

PIPED_COLUMNS = 200
"""Width of redirected output, where there is no terminal to ask."""

out = Console(emoji=False)
if not out.is_terminal and "COLUMNS" not in os.environ:
    out.width = PIPED_COLUMNS
errors = Console(emoji=False, stderr=True)

STATE_COLOURS = {
    "ready": "green",
    **dict.fromkeys(("starting", "recovering", "waiting", "restarting"), "yellow"),
    "failing": "red",
}


def coloured(state: str) -> str:
    colour = STATE_COLOURS.get(state, "default")
    return f"[{colour}]{state}[/]"


def uncut_table(*headings: str, title: str | None = None) -> Table:
    """A table that wraps long values and never truncates them."""
    table = Table(title=title)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def print_line(text: str) -> None:
    """Print one line of markup without wrapping. Values must have gone through `escape`."""
    out.print(text, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    out.print_json(json.dumps(value, default=str))
