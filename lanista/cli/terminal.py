"""Where the command line writes: results to stdout, words to stderr."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console

out = Console()
errors = Console(stderr=True)

STATE_COLOURS = {
    "ready": "green",
    **dict.fromkeys(("starting", "recovering", "waiting", "restarting"), "yellow"),
    "failing": "red",
}


def coloured(state: str) -> str:
    colour = STATE_COLOURS.get(state, "default")
    return f"[{colour}]{state}[/]"


def print_line(text: str) -> None:
    """One line of markup, never broken by us: values from elsewhere must have gone through `escape`."""
    out.print(text, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    out.print_json(json.dumps(value, default=str))
