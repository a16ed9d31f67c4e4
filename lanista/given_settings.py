"""Tells whether any setting is given, without importing Lanista: without one, commands need not load settings."""

from __future__ import annotations

import os
from pathlib import Path

DEFAULT_HOME = Path(".lanista")
"""The data folder where no setting names another."""


def any_given() -> bool:
    """Whether the environment or a lanista.toml in the working folder has a setting."""
    return any(name.startswith("LANISTA_") for name in os.environ) or os.path.lexists("lanista.toml")
