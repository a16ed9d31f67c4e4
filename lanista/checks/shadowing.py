"""Finds folders of a user that hide Lanista's own packages. Imports nothing of Lanista: it runs before all else."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path

PACKAGES = ("orchestrator", "workers", "league", "api", "migrations")


def shadowed(path: Sequence[str] | None = None) -> str | None:
    """One line that says what hides a package of Lanista and what to do; None where nothing does."""
    home = Path(__file__).resolve().parents[2]
    for name in PACKAGES:
        spec = PathFinder.find_spec(name, path)
        if spec is None or not (home / name).is_dir():
            continue
        places = [*(spec.submodule_search_locations or ()), spec.origin]
        found = next((Path(place).resolve() for place in places if place), None)
        if found is not None and home / name not in (found, found.parent):
            return (
                f"{found} hides Lanista's own package {name!r}: rename it, or take its folder off PYTHONPATH "
                f"(these names are Lanista's: {', '.join(sorted((*PACKAGES, 'lanista')))})"
            )
    return None


def refuse_shadowed() -> None:
    """End the process with that line."""
    problem = shadowed()
    if problem is not None:
        sys.exit(f"error: {problem}")
