"""Rotates the stack's log files by size."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

LOG_LIMIT = 32 * 1024 * 1024


def rotate_log(path: Path, limit: int = LOG_LIMIT) -> None:
    """Move a large log to `NAME.1`. Safe while the log is open, because its writers append.

    If the disk is full the log stays as it is: logging must never stop the stack.
    """
    with contextlib.suppress(OSError):
        if path.stat().st_size > limit:
            old = path.with_name(f"{path.name}.1")
            shutil.copyfile(path, old)
            os.truncate(path, 0)
