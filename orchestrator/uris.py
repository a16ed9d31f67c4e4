"""Addresses of artifacts as they may be shown."""

from __future__ import annotations

import re

_USER_AND_PASSWORD = re.compile(r"([a-z0-9+.-]+://)[^/\s]*@", re.IGNORECASE)


def without_secrets(uri: str) -> str:
    """A uri without the user and password that some stores are addressed by."""
    return _USER_AND_PASSWORD.sub(r"\1", uri)
