"""Errors of recorded games.

RecordingError
├── BadRecording     a file that holds no recorded game
└── CannotRender     no picture can be made of it
"""

from __future__ import annotations


class RecordingError(ValueError):
    """A recorded game cannot be used; the message says why."""


class BadRecording(RecordingError):
    """A file that holds no recorded game."""


class CannotRender(RecordingError):
    """No picture can be made."""
