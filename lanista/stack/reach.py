"""The addresses of a stack's parts, read from the file that its supervisor writes."""

from __future__ import annotations

import json

from lanista.stack.errors import NotStarted
from lanista.stack.home import Home


def reach(home: Home) -> dict[str, str]:
    """Environment variables with which a process of this user reaches the local stack."""
    path = home.run / "environment.json"
    if not path.exists():
        raise NotStarted(f"No stack was started with the data folder {home.root}. Start one with `lanista up`.")
    values: dict[str, str] = json.loads(path.read_text())
    return values
