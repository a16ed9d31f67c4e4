"""The log files of the stack, kept to a bounded size."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

LOG_LIMIT = 32 * 1024 * 1024


def shorten_log(path: Path, limit: int = LOG_LIMIT) -> None:
    """Keep at most one old log beside the present one; safe while open, because its writers append.

    A disk without room for the copy leaves the log as it is: logs must never stop the stack.
    """
    with contextlib.suppress(OSError):
        if path.stat().st_size > limit:
            old = path.with_name(f"{path.name}.1")
            shutil.copyfile(path, old)
            os.truncate(path, 0)
