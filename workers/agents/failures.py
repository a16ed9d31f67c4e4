"""Messages about agents that failed: one for the game, one for the log."""

from __future__ import annotations

import re
import time
from pathlib import Path

import structlog

from workers.user_traceback import user_traceback

log = structlog.get_logger()

_AGAIN_AFTER = 10.0
"""Seconds until the same failure is logged again: ten thousand sessions may fail alike."""
_MOST_KINDS = 1000
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_NO_TASK = "inside a task"

_logged: dict[str, tuple[float, int]] = {}
"""By failure: when it was logged, and how often it happened since."""


def report(where: str, session: str, error: BaseException) -> str:
    """Log the user's own part of the traceback and return one line for the game."""
    line = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, RuntimeError) and _NO_TASK in str(error):
        line += " (methods of agents are no tasks of asyncio: await asyncio.create_task(...) around this call)"
    frames = user_traceback(error)
    place = _FRAME.findall(frames)
    at = f" ({Path(place[-1][0]).name}, line {place[-1][1]})" if place else ""
    words = f"{where} failed: {line}{at}"
    _log(words, session, frames, error)
    return words


def _log(words: str, session: str, frames: str, error: BaseException) -> None:
    now = time.monotonic()
    at, repeated = _logged.get(words, (-_AGAIN_AFTER, 0))
    if now - at < _AGAIN_AFTER:
        _logged[words] = (at, repeated + 1)
        return
    if len(_logged) >= _MOST_KINDS:
        _logged.clear()
    _logged[words] = (now, 0)
    # without a frame of the user's, the whole traceback says where it came from
    where = {"traceback": frames} if frames else {"exc_info": error}
    log.error("an agent failed; its session is aborted", problem=words, session=session, repeated=repeated, **where)
