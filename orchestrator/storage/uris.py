"""Removes credentials from the URIs of artifacts."""

from __future__ import annotations

import re

_USER_AND_PASSWORD = re.compile(r"([a-z0-9+.-]+://)[^/\s]*@", re.IGNORECASE)


def without_secrets(uri: str) -> str:
    """The URI without user and password."""
    return _USER_AND_PASSWORD.sub(r"\1", uri)
