"""Errors of user code, as text that passes between processes.

UserCodeError       a game, model, algorithm or bot of a user's raised; carries the user's part of the traceback
└── NotFinite       a number is not finite (NaN or infinite); says which, where it arose
"""

from __future__ import annotations

import functools
import inspect
import pickle
from collections.abc import Callable
from typing import Any, TypeVar

from workers.user_traceback import OWN_PACKAGES, user_traceback

Actor = TypeVar("Actor", bound=type)


class UserCodeError(Exception):
    """User code raised. The message names the user's exception, whose class other processes may not be able to load."""

    def __init__(self, message: str, frames: str = "") -> None:
        super().__init__(message, frames)
        self.message = message
        self.frames = frames
        """The user's part of the traceback; may be empty."""

    def __str__(self) -> str:
        return self.message


class NotFinite(UserCodeError):
    """A number of user code is NaN or infinite."""


def as_user_error(error: Exception) -> Exception:
    """A UserCodeError where user code raised; any other exception as it is, or as text where it cannot be pickled.

    Errors of the operating system and of memory stay what they are: they may be gone at the next attempt.
    """
    if _is_ours(error) or isinstance(error, OSError | MemoryError):
        return error if _pickles(error) else RuntimeError(_line(error))
    frames = user_traceback(error)
    if frames:
        return UserCodeError(_line(error), frames)
    return error if _pickles(error) else RuntimeError(_line(error))


def raises_user_errors(actor: Actor) -> Actor:
    """Class decorator of Ray actors: every public method raises `as_user_error` of what it raised."""
    for name, method in inspect.getmembers(actor, inspect.isfunction):
        if not name.startswith("_"):
            setattr(actor, name, _translated(method))
    return actor


def _translated(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return method(*arguments, **named)
        except Exception as error:
            translated = as_user_error(error)
            if translated is error:
                raise
            raise translated from error

    return call


def _line(error: BaseException) -> str:
    words = str(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _is_ours(error: BaseException) -> bool:
    """Whether the class is one of Lanista's, or of what it runs on."""
    return type(error).__module__.partition(".")[0] in OWN_PACKAGES | {"ray", "temporalio"}


def _pickles(error: BaseException) -> bool:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 -- it was made here a moment ago
    except Exception:  # an exception may refuse to be pickled in any way
        return False
    return True
