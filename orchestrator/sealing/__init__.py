"""Seals what Lanista sends through Temporal, and refuses what it did not send.

A Temporal server without authentication takes calls from every local user. Therefore every payload is encrypted and
bound to its purpose (`codec.py`), and every call (start, signal, update, activity) carries a stamp (`stamps.py`) that
workers check before they run anything (`workflow_guard.py`, `activity_guard.py`).

See docs/decisions/temporal.md.
"""

from __future__ import annotations

from orchestrator.sealing.client_options import SealedOptions, sealed_options
from orchestrator.sealing.errors import NotSealed, UnknownKey
from orchestrator.sealing.keys import KeyRing, KeyUse
from orchestrator.sealing.secrets import open_secret, seal_secret

__all__ = [
    "KeyRing",
    "KeyUse",
    "NotSealed",
    "SealedOptions",
    "UnknownKey",
    "open_secret",
    "seal_secret",
    "sealed_options",
]
