"""Exit codes of commands."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit code means."""

    FAILED = 1
    """An invalid trial file, a failed trial, or an unhealthy part."""
    USAGE = 2
    UNREACHABLE = 3
    """The API, or a part it needs, does not answer."""
    NOT_ALLOWED = 4
    """No valid token, or its scope does not allow this."""
    NOT_FOUND = 5
    REFUSED = 6
    """A conflict with the present state, or an invalid request."""
    INTERRUPTED = 130
